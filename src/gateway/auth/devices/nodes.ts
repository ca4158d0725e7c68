import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import type { Random } from "../../../base/random.ts";
import type { EventPayload, MethodParams, MethodResult } from "../../../protocol/index.ts";
import type { DeviceRow, DeviceTokenRow, PairingRow, Store } from "../../../store/index.ts";
import { isDeviceId, NODE_PREFIX } from "./records.ts";
import { PAIRING_TTL_MS } from "./pairing.ts";
import { equalSecrets } from "../../../base/equal-secrets.ts";
import { createListeners } from "../listeners.ts";
import { createTurns } from "../../turns.ts";
import { printableName } from "../../../base/printable.ts";
import { isRecord } from "../../../base/records.ts";

export type NodeRequest = EventPayload<"node.pair.requested">;
export type PairedNode = MethodResult<"node.pair.list">["paired"][number];
export type NodePairingEvent =
  | { readonly event: "node.pair.requested"; readonly payload: NodeRequest }
  | { readonly event: "node.pair.resolved"; readonly payload: EventPayload<"node.pair.resolved"> };

/** The pairing of nodes that is kept apart from devices: it does not decide who may connect. */
export interface NodePairing {
  request(params: MethodParams<"node.pair.request">): Promise<{ readonly request: NodeRequest; readonly created: boolean }>;
  list(): Promise<{ readonly pending: readonly NodeRequest[]; readonly paired: readonly PairedNode[] }>;
  approve(requestId: string): Promise<{ readonly requestId: string; readonly node: PairedNode }>;
  reject(requestId: string): Promise<{ readonly requestId: string; readonly nodeId: string }>;
  /** Its token is worth nothing from then on. */
  remove(nodeId: string): Promise<{ readonly nodeId: string }>;
  verify(nodeId: string, token: string): Promise<{ readonly ok: boolean; readonly node?: PairedNode }>;
  rename(nodeId: string, displayName: string): Promise<{ readonly nodeId: string; readonly displayName: string }>;
  onEvent(listener: (event: NodePairingEvent) => void): Disposable;
}

export interface NodePairingDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
}

const rowId = (nodeId: string): string => `${NODE_PREFIX}${nodeId}`;
const ROLE = "node";
const MAX_PENDING = 500;

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (data: unknown): Fields => (isRecord(data) ? data : {});

function requestFrom(row: PairingRow): NodeRequest {
  return { ...(fieldsOf(row.data) as Omit<NodeRequest, "requestId" | "nodeId" | "ts">), requestId: row.id, nodeId: row.subject, ts: row.createdAt };
}

function nodeFrom(row: DeviceRow, tokens: readonly DeviceTokenRow[]): PairedNode {
  const held = tokens.find(({ deviceId }) => deviceId === row.id);
  return {
    ...fieldsOf(row.data),
    nodeId: row.id.slice(NODE_PREFIX.length),
    token: held?.token ?? "",
    createdAtMs: row.createdAt,
    approvedAtMs: row.approvedAt,
  };
}

const unknown = (what: "requestId" | "nodeId"): AppError => new AppError("INVALID_INPUT", `unknown ${what}`);

export function createNodePairing({ store, clock, ids, random }: NodePairingDeps): NodePairing {
  const turns = createTurns();
  const { emit, on: onEvent } = createListeners<NodePairingEvent>();
  const waiting = () => store.read("pairing.list", { kind: "node", now: clock.now() });
  const find = async (requestId: string) => (await waiting()).find((row) => row.id === requestId);
  const emitResolved = (requestId: string, nodeId: string, decision: "approved" | "rejected"): void =>
    emit({ event: "node.pair.resolved", payload: { requestId, nodeId, decision, ts: clock.now() } });
  const load = async (nodeId: string): Promise<PairedNode | undefined> => {
    const id = rowId(nodeId);
    const [row, tokens] = await Promise.all([store.read("devices.get", { id }), store.read("devices.tokens", { deviceId: id })]);
    return row && nodeFrom(row, tokens);
  };

  return {
    async request(params) {
      const { nodeId, idempotencyKey: _, ...fields } = params;
      const pending = await waiting();
      if (pending.length >= MAX_PENDING && !pending.some((row) => row.subject === nodeId)) {
        throw new AppError("OVERLOADED", `${MAX_PENDING} nodes are already waiting for approval; approve or reject some, or wait 5 minutes`);
      }
      const isRepair = (await store.read("devices.get", { id: rowId(nodeId) })) !== undefined;
      const { created, request: row } = await store.write("pairing.request", {
        id: ids.uuid(),
        kind: "node",
        subject: nodeId,
        expiresAt: clock.now() + PAIRING_TTL_MS,
        data: { ...fields, isRepair },
      });
      const request = requestFrom(row);
      if (created) emit({ event: "node.pair.requested", payload: request });
      return { request, created };
    },

    async list() {
      const [pending, rows, tokens] = await Promise.all([waiting(), store.read("devices.list", {}), store.read("devices.tokens", {})]);
      return { pending: pending.map(requestFrom), paired: rows.filter((row) => !isDeviceId(row.id)).map((row) => nodeFrom(row, tokens)) };
    },

    async approve(requestId) {
      const found = await find(requestId);
      if (!found) throw unknown("requestId");
      const nodeId = found.subject;
      return turns(nodeId, async () => {
        if (!(await find(requestId))) throw unknown("requestId");
        const { isRepair: _, silent: __, ...fields } = fieldsOf(found.data);
        const id = rowId(nodeId);
        await store.commit([
          ["pairing.take", { id: requestId }],
          ["devices.put", { id, publicKey: "", data: fields }],
          ["devices.token.put", { deviceId: id, role: ROLE, token: random.bytes(32).toString("base64url"), scopes: [] }],
        ]);
        emitResolved(requestId, nodeId, "approved");
        return { requestId, node: (await load(nodeId))! };
      });
    },

    async reject(requestId) {
      const found = await find(requestId);
      const taken = found && (await turns(found.subject, () => store.write("pairing.take", { id: requestId })));
      if (!taken) throw unknown("requestId");
      emitResolved(requestId, taken.subject, "rejected");
      return { requestId, nodeId: taken.subject };
    },

    remove: (nodeId) =>
      turns(nodeId, async () => {
        if (!(await store.write("devices.delete", { id: rowId(nodeId) })).deleted) throw unknown("nodeId");
        return { nodeId };
      }),

    async verify(nodeId, token) {
      const node = await load(nodeId);
      return equalSecrets(token, node?.token ?? "") && node ? { ok: true, node } : { ok: false };
    },

    rename: (nodeId, written) =>
      turns(nodeId, async () => {
        const displayName = printableName(written);
        if (displayName === "") throw new AppError("INVALID_INPUT", "the name has no printable characters");
        const row = await store.read("devices.get", { id: rowId(nodeId) });
        if (!row) throw unknown("nodeId");
        await store.write("devices.put", { id: row.id, publicKey: row.publicKey, data: { ...fieldsOf(row.data), displayName } });
        return { nodeId, displayName };
      }),
    onEvent,
  };
}
