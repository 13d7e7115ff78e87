// Loads the bundle of the live figures when the first of them comes near, or when the page has
// loaded and nothing else is to do. Until then the page shows each figure's picture.
(() => {
  const { bundle } = document.currentScript.dataset;
  let asked = false;

  function load() {
    if (asked) return;
    asked = true;
    const script = document.createElement("script");
    script.src = bundle;
    document.head.append(script);
  }

  const near = new IntersectionObserver(
    (seen) => seen.some((figure) => figure.isIntersecting) && load(),
    { rootMargin: "600px" },
  );
  document.querySelectorAll("figure.live").forEach((figure) => near.observe(figure));

  const whenIdle = () => (window.requestIdleCallback ?? setTimeout)(load);
  if (document.readyState === "complete") whenIdle();
  else window.addEventListener("load", whenIdle);
})();
