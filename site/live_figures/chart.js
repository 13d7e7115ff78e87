// What the bundle of Vega offers to live.js. The build puts `vegaEmbed` before it.
window.rooflineVegaEmbed = vegaEmbed;
