// The bundle ships without types; plotly.ts names what is used of it.
declare module "plotly.js-cartesian-dist-min" {
  const plotly: unknown;
  export default plotly;
}
