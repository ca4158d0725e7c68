/**
 * Devices with the role node: registry, invokes, events, and the node host.
 * The entry point. A gateway without nodes loads the registry alone.
 */
export { createNodes, type Nodes, type NodesDeps } from "./create-nodes.ts";
export type { NodeEntry, NodeLink, PairedNodeDevice } from "./registry.ts";
