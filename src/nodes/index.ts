/**
 * Devices with the role node: registry, invokes, events, and the node host.
 * The entry point. A gateway without nodes loads the registry alone.
 */
import type * as browserNodes from "./browser-nodes.ts";
import type * as devices from "./host/devices/devices.ts";
import type * as nodeHost from "./host/node-host.ts";
import type * as nodeTools from "./tools.ts";

export { createCanvas, type Canvas, type CanvasDeps } from "./canvas/create-canvas.ts";
export { createNodes, type Nodes, type NodesDeps } from "./create-nodes.ts";
export type { NodeEntry, NodeLink, PairedNodeDevice } from "./registry.ts";
export type { NodePairingPort, NodesToolDeps } from "./tool/deps.ts";
export { fileCommandText, type WrittenFile } from "./file-command.ts";
export type { HostBrowser } from "./host/browser-proxy.ts";
export { withOutcome } from "./disconnected.ts";
export { findNode, nodeName } from "./find-node.ts";
export { createLazyNodeRunner } from "./lazy-runner.ts";

/** The tools with which agents use nodes and canvases. Loaded when the first message is answered. */
export const loadNodeTools = async (): Promise<typeof nodeTools> => import("./tools.ts");

/** Browsers that nodes share. Loaded with the first use of a browser. */
export const loadBrowserNodes = async (): Promise<typeof browserNodes> => import("./browser-nodes.ts");

export type { NodeHostDeps } from "./host/node-host.ts";

/** The client side: this machine as a node. */
export const loadNodeHost = async (): Promise<typeof nodeHost> => import("./host/node-host.ts");

/** The parts of this machine that a node host offers, for its status. */
export const loadHostDevices = async (): Promise<typeof devices> => import("./host/devices/devices.ts");
