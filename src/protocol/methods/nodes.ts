import { method } from "../method.ts";
import { DecideParamsSchema, nodeFields, NodePairRequestSchema, nodeRequestFields, pairedFields } from "../pairing.ts";
import {
  amount,
  anything,
  choice,
  closed,
  done,
  effect,
  filled,
  flag,
  idempotencyKey,
  list,
  map,
  maybe,
  moment,
  none,
  number,
  open,
  orNull,
  text,
  texts,
} from "../pieces.ts";

const entry = {
  nodeId: filled(),
  ...nodeFields,
  caps: texts(),
  commands: texts(),
  pathEnv: maybe(text()),
  permissions: maybe(map(flag())),
  connectedAtMs: maybe(moment()),
  /** Of a node that is not connected: when it last was, as far as that is known. */
  lastSeenAtMs: maybe(moment()),
  paired: flag(),
  connected: flag(),
};

const PairedNode = open({ nodeId: filled(), token: filled(), ...nodeFields, ...pairedFields });

const pairing = {
  "node.pair.request": method({
    access: "operator.pairing",
    params: effect(nodeRequestFields),
    result: closed({ status: choice(["pending"]), request: NodePairRequestSchema, created: flag() }),
    effect: true,
    module: "nodes",
    summary: "Requests pairing of a node. Separate from device pairing: it does not control who may connect.",
  }),
  "node.pair.list": method({
    access: "operator.pairing",
    params: none(),
    result: closed({ pending: list(NodePairRequestSchema), paired: list(PairedNode) }),
    effect: false,
    module: "nodes",
    summary: "Lists pending and paired nodes.",
  }),
  "node.pair.approve": method({
    access: "operator.pairing",
    params: DecideParamsSchema,
    result: closed({ requestId: filled(), node: PairedNode }),
    effect: true,
    module: "nodes",
    summary: "Approves a pending node.",
  }),
  "node.pair.reject": method({
    access: "operator.pairing",
    params: DecideParamsSchema,
    result: closed({ requestId: filled(), nodeId: filled() }),
    effect: true,
    module: "nodes",
    summary: "Rejects a pending node.",
  }),
  "node.pair.remove": method({
    access: "operator.pairing",
    params: effect({ nodeId: filled() }),
    result: closed({ nodeId: filled() }),
    effect: true,
    module: "nodes",
    summary: "Removes a node that was approved with `node.pair.approve`. A node that is paired as a device is removed with `device.pair.remove`.",
  }),
  "node.pair.verify": method({
    access: "operator.pairing",
    params: closed({ nodeId: filled(), token: filled() }),
    result: closed({ ok: flag(), node: maybe(PairedNode) }),
    effect: false,
    module: "nodes",
    summary: "Checks a node's token.",
  }),
};

/** Devices that lend their hands and senses. */
export const nodesMethods = {
  ...pairing,
  "node.list": method({
    access: "operator.read",
    params: none(),
    result: closed({ ts: moment(), nodes: list(closed(entry)) }),
    effect: false,
    module: "nodes",
    summary: "Lists all nodes, connected or paired.",
  }),
  "node.describe": method({
    access: "operator.read",
    params: closed({ nodeId: filled() }),
    result: closed({
      ts: moment(),
      ...entry,
      refused: maybe(
        list(
          closed({
            command: filled(),
            why: choice(["denied", "not-allowed"], {
              description:
                "`denied`: `gateway.nodes.denyCommands` names it. `not-allowed`: it is not a default of the platform, and `gateway.nodes.allowCommands` lacks it.",
            }),
          }),
          { description: "Commands that the connected node offers and the configuration refuses." },
        ),
      ),
    }),
    effect: false,
    module: "nodes",
    summary: "Returns one node.",
  }),
  "node.invokes": method({
    access: "operator.read",
    params: closed({ nodeId: filled() }),
    result: closed({
      invokes: list(
        closed({
          command: filled(),
          startedAtMs: moment(),
          outcome: choice(["running", "done", "failed"]),
          durationMs: maybe(amount()),
          message: maybe(text({ description: "Why it failed." })),
        }),
      ),
    }),
    effect: false,
    module: "nodes",
    summary: "Lists the last commands that a node was asked for since the gateway started, newest first, without their parameters and results.",
  }),
  "node.invoke": method({
    access: "operator.write",
    params: closed({
      nodeId: filled(),
      command: filled(),
      params: maybe(anything()),
      timeoutMs: maybe(amount({ default: 30_000 })),
      progress: maybe(flag({ description: "Sends this connection `node.invoke.progress` while the command runs, where the node can." })),
      idempotencyKey: idempotencyKey(),
    }),
    result: closed({ ok: flag(), nodeId: filled(), command: filled(), payload: maybe(anything()), payloadJSON: maybe(orNull(text())) }),
    effect: true,
    module: "nodes",
    summary: "Runs a command that the node declared and that is allowed there.",
  }),
  "node.invoke.result": method({
    access: "node",
    params: closed({
      id: filled(),
      nodeId: filled(),
      ok: flag(),
      payload: maybe(anything()),
      payloadJSON: maybe(orNull(text())),
      error: maybe(orNull(closed({ code: maybe(text()), message: maybe(text()) }))),
    }),
    result: done({ ignored: maybe(flag()) }),
    effect: false,
    module: "nodes",
    summary: "Returns a node's result for `node.invoke.request`; a late one is ignored.",
  }),
  "node.invoke.progress": method({
    access: "node",
    params: closed({ invokeId: filled(), nodeId: filled(), seq: amount(), chunk: text({ maxLength: 16_384 }) }),
    result: done({ ignored: maybe(flag()) }),
    effect: false,
    module: "nodes",
    summary: "Sends output of a command that runs on a node to the caller. `seq` increases; repeated or late parts are ignored.",
  }),
  "node.invoke.cancel": method({
    access: "operator.write",
    params: closed({ nodeId: filled(), idempotencyKey: filled({ maxLength: 512, description: "Key of the `node.invoke` to end." }) }),
    result: done({ cancelled: flag({ description: "False when no command runs under the key." }) }),
    effect: true,
    module: "nodes",
    summary: "Ends a command that runs on a node. Its caller gets `CANCELLED`; it may have taken effect.",
  }),
  "node.event": method({
    access: "node",
    params: effect({ event: filled(), payload: maybe(anything()), payloadJSON: maybe(text()) }),
    result: done({}),
    effect: true,
    module: "nodes",
    summary: "Reports an event of a node: speech, a request to an agent, a finished command.",
  }),
  "node.rename": method({
    access: "operator.pairing",
    params: effect({ nodeId: filled(), displayName: filled() }),
    result: closed({ nodeId: filled(), displayName: filled() }),
    effect: true,
    module: "nodes",
    summary: "Renames a paired node.",
  }),
  "push.test": method({
    access: "operator.write",
    params: effect({
      nodeId: filled(),
      title: maybe(text()),
      body: maybe(text()),
      environment: maybe(choice(["sandbox", "production"])),
    }),
    result: open({ ok: flag(), status: number(), apnsId: maybe(text()), reason: maybe(text()) }),
    effect: true,
    module: "nodes",
    summary: "Sends a test notification to a node. Always unavailable: push notifications are not supported.",
    advertised: false,
  }),
};
