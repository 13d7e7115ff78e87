// @ts-check
// The catalog that Python writes, with what follows from it.

// `chips` are those that the course's tables show. `link` is the bandwidth to one peer of the first link, 0
// without one; `lanes` is the number of its links in a mesh, 0 elsewhere; `reduces` says whether its switch
// adds up what chips send.
export function catalog(tables) {
  const all = tables.all.map((chip) => {
    const [first] = chip.links;
    return { ...chip, ...(first ? ofLink(first) : { link: 0, lanes: 0, reduces: false }) };
  });
  return { ...tables, all, chips: all.filter(({ shown }) => shown) };
}

export const ofLink = ({ to_one_peer: link, topology, lanes, reduces }) => ({
  link,
  lanes: topology === "mesh" ? lanes : 0,
  reduces,
});
