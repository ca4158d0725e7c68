export { probeModel, type ProbeOptions, type ProbeResult, type ProbeStatus } from "./probe.ts";
export { inParallel } from "./parallel.ts";
