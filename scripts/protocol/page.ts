/** `docs/protocol.md`, made from the declarations. */
import { DECLARED_EVENTS } from "../../src/protocol/events.ts";
import type { JsonSchema } from "../../src/protocol/check.ts";
import { CAPABILITIES } from "../../src/protocol/capabilities.ts";
import { ConnectParamsSchema, HelloOkSchema } from "../../src/protocol/connect.ts";
import { ErrorShapeSchema, EventFrameSchema, RequestFrameSchema, ResponseFrameSchema } from "../../src/protocol/frames.ts";
import { CLOSE, LIMITS, PROTOCOL_ERROR_CODES, PROTOCOL_VERSION } from "../../src/protocol/limits.ts";
import { AREAS } from "../../src/protocol/methods/index.ts";
import type { MethodSpec } from "../../src/protocol/method.ts";
import { shapeText } from "./shape.ts";

const shape = (schema: unknown): string => `\`${shapeText(schema as JsonSchema)}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** One row for each key of an object. */
function fields(schema: unknown): string {
  const { properties = {}, required = [] } = schema as JsonSchema;
  return table(
    ["field", "value"],
    Object.entries(properties).map(([key, value]) => [`\`${key}${required.includes(key) ? "" : "?"}\``, shape(value)]),
  );
}

function areaText(title: string, methods: Readonly<Record<string, MethodSpec>>): string {
  const rows = Object.entries(methods).map(([name, spec]) => [
    `\`${name}\`${spec.advertised === false ? " †" : ""}<br>${spec.summary}`,
    spec.access === "node" ? "role `node`" : `\`${spec.access}\``,
    shape(spec.params),
    shape(spec.result),
    spec.effect ? "yes" : "",
    spec.module,
  ]);
  return `### ${title}\n\n${table(["method", "needs", "parameters", "result", "effect", "module"], rows)}`;
}

const AUDIENCES: Readonly<Record<string, string>> = {
  all: "every client",
  readers: "`operator.read`, and nodes",
  socket: "the new connection",
  node: "one node",
};
const DROPPED: Readonly<Record<string, string>> = { always: "yes", never: "", delta: "only `delta`" };

const ERRORS: Readonly<Record<(typeof PROTOCOL_ERROR_CODES)[number], string>> = {
  INVALID_REQUEST: "The request cannot be answered as it is: unknown method, missing scope, wrong parameters, nothing of that name.",
  UNAVAILABLE: "It could be answered another time: a module is missing, stopped or failed. `retryable` and `retryAfterMs` say more.",
  NOT_PAIRED: "The device must be approved first; `details.requestId` names its request.",
  NOT_LINKED: "Reserved.",
  AGENT_TIMEOUT: "Reserved.",
};

const LIMIT_TEXTS: Readonly<Record<keyof typeof LIMITS, string>> = {
  maxPayload: "bytes of a frame",
  maxBufferedBytes: "bytes that may wait for a slow reader",
  tickIntervalMs: "ms between two ticks; a client gives up after two missed ones",
  handshakeMs: "ms from the challenge to hello",
  challengeWaitMs: "ms after which a client that saw no challenge sends `connect`",
  signatureSkewMs: "ms that `device.signedAt` may be off",
  pairingTtlMs: "ms that a request to pair waits",
  closeReasonBytes: "bytes of a close reason",
};

const CLOSE_TEXTS: Readonly<Record<keyof typeof CLOSE, string>> = {
  normal: "Ended; also a handshake that never came.",
  protocolMismatch: "The client speaks other versions.",
  policy: "Refused, the reason is the message; or `slow consumer`.",
  tooLarge: "A frame over `maxPayload`.",
  restart:
    "`service restart`: the gateway stops or restarts. `gateway failed; see its log`: it cannot go on, such as on a full disk, and does not come back by itself.",
  tickTimeout: "By the client: no tick came.",
  connectFailed: "By the client: the handshake failed.",
};

const numbers = (values: Readonly<Record<string, number>>, texts: Readonly<Record<string, string>>): string =>
  table(
    ["name", "value", "meaning"],
    Object.entries(values).map(([name, value]) => [`\`${name}\``, String(value), texts[name]!]),
  );

function eventsText(): string {
  const rows = Object.entries(DECLARED_EVENTS).map(([name, spec]) => [
    `\`${name}\`<br>${spec.summary}`,
    AUDIENCES[spec.audience] ?? `\`${spec.audience}\``,
    shape(spec.payload),
    DROPPED[spec.droppable]!,
  ]);
  return table(["event", "to", "payload", "may be missed"], rows);
}

const INTRODUCTION = `# Protocol

<!-- Made by scripts/protocol-export.ts from src/protocol: change the declarations, not this page. -->

Version ${PROTOCOL_VERSION}: JSON text frames over one WebSocket on the gateway's port. The same as JSON Schema: \`dist/protocol.schema.json\`.

Shapes are written like this: \`text\` is not empty, \`text*\` may be; \`whole\` is an integer, \`time\` milliseconds since the epoch, \`day\` is \`YYYY-MM-DD\`; \`name?\` may be missing; \`[x]\` is a list; \`a / b\` is one of both;
a value in parentheses is the default; \`…\` stands for keys that are not written down, \`{…}\` for an object that is too long for a table. Other keys than those written are refused in parameters.`;

const HANDSHAKE = `## Handshake

1. The gateway sends the event \`connect.challenge\` with a nonce.
2. The client sends the request \`connect\`. A device signs \`v2|id|client.id|client.mode|role|scopes|signedAt|token|nonce\` with its ed25519 key: scopes joined by commas in the order sent, the token empty when there is none.
3. The gateway answers with \`hello-ok\`, or with an error and a close whose reason is the error's message.

Anything else as the first frame ends the connection. Checks come in this order: frame, method, schema, protocol version, role, origin, device or shared secret, device id, time of the signature, nonce, signature, secret or device token, pairing.
A client without a device and with the right secret is let in without scopes.`;

const CAPABILITY_TEXT = `Operators announce in \`caps\` what they can handle:

- \`${CAPABILITIES.toolEvents}\`: tool events of the runs that the client takes part in.
- \`${CAPABILITIES.textDeltas}\`: the client puts texts together by itself. \`agent\` events of the streams \`assistant\` and \`thinking\` then carry \`{delta, at}\` in place of \`{text, delta}\`: \`delta\` follows the first \`at\` characters
  (UTF-16 units) of the text so far, \`at: 0\` begins another text. A piece comes at most every 50 ms, and there are no \`chat\` events of state \`delta\`; the \`final\` has the whole text as always.
  \`openclaw/client\` announces this and hands programs the events with whole texts. A client that joins in the middle reads the text so far from [\`chat.page\`](channels/webchat.md) (\`runs\`) and adds the pieces to it by their \`at\`.

Without it every piece repeats the text so far. Pieces are put together: at most one in 150 ms, and in a long answer about one each time the text has grown by 4 %. At ordinary speeds a connection receives
less than 60 times the text (12 times with \`${CAPABILITIES.textDeltas}\`), whatever the number of pieces the model sent. The frames around the pieces weigh more when a short text comes slowly: 300 bytes over 15 seconds take about 80 times (30 times) their length, a few
kilobytes. A connection that reads slowly gets fewer, longer pieces; it is not closed for them.`;

const DISPATCH = `## Methods

A call is checked in this order: scope, parameters, idempotency. \`operator.admin\` covers every operator scope, \`operator.write\` covers \`operator.read\`. Wrong parameters are answered with \`INVALID_REQUEST\` and
\`invalid <method> params: <issues>\`; an issue reads \`at /pointer: must be …\`, \`must have required property 'x'\` or \`at root: unexpected property 'x'\`.

A method with an effect takes an \`idempotencyKey\`: the same key with the same parameters gets the same answer, after a restart too; with other parameters it is refused. Methods marked † are handled but not named in \`hello-ok\`. A method
whose module is not there is answered with \`UNAVAILABLE\` and not named either. Some methods answer twice: first with \`status: "accepted"\`, then with the result.`;

/** The whole page. */
export function protocolPage(): string {
  const areas = Object.entries(AREAS).map(([title, methods]) => areaText(title, methods));
  const errors = PROTOCOL_ERROR_CODES.map((code) => [`\`${code}\``, ERRORS[code]]);
  return `${[
    INTRODUCTION,
    "## Frames",
    table(
      ["frame", "shape"],
      [
        ["request", shape(RequestFrameSchema)],
        ["response", shape(ResponseFrameSchema)],
        ["event", shape(EventFrameSchema)],
        ["error", shape(ErrorShapeSchema)],
      ],
    ),
    "`seq` grows by one with every broadcast; clients with the capability `text-deltas` and the others are counted apart. Events that are for others leave gaps; events for one connection have none. `stateVersion` comes with `presence` and `health`.",
    HANDSHAKE,
    "### connect",
    fields(ConnectParamsSchema),
    CAPABILITY_TEXT,
    "### hello-ok",
    fields(HelloOkSchema),
    DISPATCH,
    ...areas,
    "## Events",
    eventsText(),
    "## Errors",
    table(["code", "meaning"], errors),
    "## Limits",
    numbers(LIMITS, LIMIT_TEXTS),
    "## Closing",
    numbers(CLOSE, CLOSE_TEXTS),
  ].join("\n\n")}\n`;
}
