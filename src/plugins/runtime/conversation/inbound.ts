/** `runtime.channel.inbound`: a message from its arrival to the end of its reply, in steps that a plugin fills in. */
import { isRecord } from "../../../base/records.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { RuntimeChannelSession } from "../../sdk/types/index.ts";
import type { DispatchResult, HostConfig, MsgContext, ReplyDispatcherOptions, ReplyKind, ReplyOptions, ReplyPayload } from "../../../protocol/index.ts";
import type { Dispatching } from "./dispatching.ts";

type RecordSession = RuntimeChannelSession["recordInboundSession"];

/** What becomes of a message. */
export interface Admission {
  readonly kind: "dispatch" | "observeOnly" | "handled" | "drop";
  readonly reason?: string;
}

/** A message that a plugin has put together. Either `delivery` takes the replies, or `runDispatch` does everything. */
export interface AssembledMessage {
  readonly cfg?: HostConfig;
  readonly channel: string;
  readonly accountId?: string;
  readonly agentId?: string;
  readonly routeSessionKey?: string;
  readonly route?: { readonly agentId?: string; readonly sessionKey?: string };
  readonly storePath?: string;
  readonly ctxPayload: MsgContext;
  readonly recordInboundSession?: RecordSession;
  readonly record?: Partial<Pick<Parameters<RecordSession>[0], "groupResolution" | "createIfMissing" | "updateLastRoute" | "onRecordError">>;
  readonly afterRecord?: () => Promise<void> | void;
  readonly delivery?: {
    deliver(payload: ReplyPayload, info: { kind: ReplyKind }): unknown;
    onError?(error: unknown, info: { kind: ReplyKind }): void;
  };
  readonly dispatcherOptions?: Partial<ReplyDispatcherOptions>;
  readonly replyOptions?: ReplyOptions;
  readonly admission?: Admission;
  readonly runDispatch?: () => Promise<DispatchResult>;
  readonly onPreDispatchFailure?: (error: unknown) => Promise<void> | void;
}

export interface InboundOutcome {
  readonly admission: Admission;
  readonly dispatched: boolean;
  readonly ctxPayload?: MsgContext;
  readonly routeSessionKey?: string;
  readonly dispatchResult?: DispatchResult;
}

interface EventClass {
  readonly kind: string;
  readonly canStartAgentTurn: boolean;
}

export interface InboundRun {
  readonly channel: string;
  readonly accountId?: string;
  readonly raw: unknown;
  readonly adapter: {
    ingest(raw: unknown): unknown;
    classify?(input: unknown): EventClass | Promise<EventClass>;
    preflight?(input: unknown, found: EventClass): unknown;
    resolveTurn(input: unknown, found: EventClass, preflight: unknown): AssembledMessage | Promise<AssembledMessage>;
    onFinalize?(outcome: InboundOutcome): Promise<void> | void;
  };
}

export interface Inbound {
  run(asked: InboundRun): Promise<InboundOutcome>;
  dispatch(message: AssembledMessage): Promise<InboundOutcome>;
}

const KINDS: ReadonlySet<unknown> = new Set<Admission["kind"]>(["dispatch", "observeOnly", "handled", "drop"]);
const isAdmission = (value: unknown): value is Admission => isRecord(value) && KINDS.has(value["kind"]);

export function createInbound(dispatching: Dispatching, deps: { readonly recordInboundSession: RecordSession; readonly log: Logger }): Inbound {
  const keyOf = ({ routeSessionKey, route, ctxPayload }: AssembledMessage): string | undefined => routeSessionKey ?? route?.sessionKey ?? ctxPayload.SessionKey;

  async function record(message: AssembledMessage): Promise<void> {
    const sessionKey = keyOf(message);
    if (sessionKey === undefined) return;
    const failed = (error: unknown): void => deps.log.warn(`a session could not be recorded: ${messageOf(error)}`);
    const { storePath = "", ctxPayload, recordInboundSession = deps.recordInboundSession, record: more = {} } = message;
    await recordInboundSession({ storePath, sessionKey: ctxPayload.SessionKey ?? sessionKey, ctx: ctxPayload, onRecordError: failed, ...more });
    await message.afterRecord?.();
  }

  function send(message: AssembledMessage): Promise<DispatchResult> {
    const { delivery, dispatcherOptions = {}, runDispatch, replyOptions } = message;
    if (runDispatch) return runDispatch();
    if (!delivery) throw new AppError("INVALID_INPUT", "a message to dispatch needs delivery.deliver, or runDispatch");
    const ctx = { ...message.ctxPayload };
    ctx.SessionKey ??= keyOf(message);
    ctx.AccountId ??= message.accountId;
    ctx.OriginatingChannel ??= message.channel;
    return dispatching.withBufferedBlocks({
      ctx,
      dispatcherOptions: {
        onError: delivery.onError,
        ...dispatcherOptions,
        // The answer is kept: it may name the message that was sent.
        deliver: (payload, info) => (message.admission?.kind === "observeOnly" ? undefined : delivery.deliver(payload, info)) as Promise<void>,
      },
      ...(replyOptions ? { replyOptions } : {}),
    });
  }

  async function dispatch(message: AssembledMessage): Promise<InboundOutcome> {
    const { admission = { kind: "dispatch" }, ctxPayload } = message;
    const routeSessionKey = keyOf(message);
    const facts = { ctxPayload, ...(routeSessionKey === undefined ? {} : { routeSessionKey }) };
    if (admission.kind === "drop" || admission.kind === "handled") return { admission, dispatched: false, ...facts };
    try {
      await record(message);
    } catch (error) {
      await message.onPreDispatchFailure?.(error);
      throw error;
    }
    return { admission, dispatched: true, ...facts, dispatchResult: await send(message) };
  }

  async function steps({ adapter, raw, channel, accountId }: InboundRun): Promise<InboundOutcome> {
    const input = await adapter.ingest(raw);
    if (input === null || input === undefined) return { admission: { kind: "drop", reason: "ingest" }, dispatched: false };
    const found = (await adapter.classify?.(input)) ?? { kind: "message", canStartAgentTurn: true };
    if (!found.canStartAgentTurn) return { admission: { kind: "handled", reason: found.kind }, dispatched: false };
    const preflight = (await adapter.preflight?.(input, found)) ?? {};
    const said = isAdmission(preflight) ? preflight : (preflight as { readonly admission?: Admission }).admission;
    if (said && said.kind !== "dispatch" && said.kind !== "observeOnly") return { admission: said, dispatched: false };
    const message = await adapter.resolveTurn(input, found, isAdmission(preflight) ? {} : preflight);
    return dispatch({
      ...(accountId === undefined ? {} : { accountId }),
      ...(said ? { admission: said } : {}),
      ...message,
      channel: message.channel ?? channel,
    });
  }

  return {
    dispatch,
    async run(asked) {
      let outcome: InboundOutcome = { admission: { kind: "drop", reason: "failed" }, dispatched: false };
      try {
        outcome = await steps(asked);
        return outcome;
      } finally {
        await asked.adapter.onFinalize?.(outcome);
      }
    },
  };
}
