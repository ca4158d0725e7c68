import { connect, type DeviceIdentity, type DeviceTokens, type GatewayClient, type HelloOk } from "openclaw/client";
import type { WritableSignal } from "../base/signal.ts";
import { identity, redeem } from "./entrance.ts";
import { failureText, isPairingNeeded, isRevoked, isUnauthorized, refusedText, revokedText } from "./failure.ts";
import { introduction, ROLE, traded } from "./introduction.ts";
import type { Listeners } from "./listeners.ts";
import type { Credentials, LinkState } from "./state.ts";

/** The page's connection, over all its tries. */
export interface Line {
  readonly state: WritableSignal<LinkState>;
  readonly listeners: Listeners;
  readonly tokens: DeviceTokens;
  /** Called when this browser is signed out: data of the previous user is not for the next one. */
  readonly forget: () => void;
  client: GatewayClient | undefined;
  hello: HelloOk | undefined;
  device: DeviceIdentity | undefined;
  /** A secret that could not be traded for a token of this browser's own: it is shown at each connection. */
  secret: Credentials;
  /** Counts tries: whatever comes from an older one is ignored. */
  turn: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const RETRY_MS = 2000;

/** What a page does next that was refused. */
function refusedState(error: unknown, device: DeviceIdentity | undefined, tried: "kept" | "typed" | undefined): LinkState {
  if (isPairingNeeded(error) && device) return { kind: "pairing", deviceId: device.id };
  // Who has shown nothing yet has done nothing wrong.
  return tried ? { kind: "login", message: refusedText(error, tried === "typed") } : { kind: "login" };
}

/** The token of this browser's own. */
export const keptToken = async ({ device, tokens }: Line): Promise<string | undefined> => (device ? tokens.load(device.id, ROLE) : undefined);

/** Ends the connection and every try for one. */
export function hangUp(line: Line): void {
  line.turn += 1;
  clearTimeout(line.timer);
  line.client?.close();
  line.client = undefined;
}

/** Takes everything off the page and out of the browser, and asks who is there. */
export async function leave(line: Line, state: LinkState): Promise<void> {
  hangUp(line);
  line.secret = {};
  line.state.set(state);
  line.forget();
  if (line.device) await line.tokens.forget(line.device.id, ROLE);
}

/**
 * The connection stood on something that ended. Trying it again could only fail, and count as an attack. Another tab may have got a new token meanwhile:
 * that one is tried.
 */
async function putOut(line: Line, error: unknown): Promise<void> {
  const { turn } = line;
  const kept = await keptToken(line);
  if (turn !== line.turn) return;
  if (kept === undefined || kept === line.hello?.auth?.deviceToken || Object.keys(line.secret).length > 0) {
    return leave(line, { kind: "login", message: revokedText(error) });
  }
  line.state.set({ kind: "starting" });
  await enter(line, {});
}

async function open(line: Line, credentials: Credentials, mine: number): Promise<void> {
  const { state, listeners } = line;
  line.secret = credentials;
  const next = await connect({
    ...introduction(credentials, line.device, line.tokens),
    onStale(reason) {
      if (mine !== line.turn) return;
      if (reason.kind === "reconnected") {
        line.hello = reason.hello;
        state.set({ kind: "open" });
      }
      listeners.tellFresh();
    },
    onLost({ error, retryInMs }) {
      if (mine !== line.turn || retryInMs === undefined) return;
      if (isRevoked(error)) void putOut(line, error);
      else state.set({ kind: "lost", message: failureText(error), retryAt: Date.now() + retryInMs });
    },
  });
  if (mine !== line.turn) return next.close();
  line.client = next;
  line.hello = next.hello;
  listeners.attach(next);
  void next.closed.then((error) => {
    if (mine !== line.turn || !error) return;
    if (isUnauthorized(error) || isPairingNeeded(error)) return refuse(line, error, true);
    state.set({ kind: "lost", message: failureText(error), retryAt: undefined });
  });
  state.set({ kind: "open" });
  listeners.tellFresh();
}

/** The gateway does not want what this browser has kept, or it has kept nothing. */
function refuse(line: Line, error: unknown, tried: boolean): void {
  hangUp(line);
  line.secret = {};
  line.state.set(refusedState(error, line.device, tried ? "kept" : undefined));
  line.forget();
}

/** Connects with what is given, else with what the browser has kept. */
export async function enter(line: Line, credentials: Credentials): Promise<void> {
  hangUp(line);
  const mine = line.turn;
  line.device ??= await identity();
  const given = Object.keys(credentials).length > 0;
  const kept = (await keptToken(line)) !== undefined;
  try {
    if (credentials.code) {
      const { deviceToken, role, scopes } = await redeem(credentials.code, line.device);
      await line.tokens.save(line.device!.id, { role, token: deviceToken, scopes });
    }
    const left = credentials.code ? {} : await traded(credentials, line.device, line.tokens);
    if (mine === line.turn) await open(line, left, mine);
  } catch (error) {
    if (mine !== line.turn) return;
    // An old link in a browser that is in already.
    if (credentials.code && kept) return enter(line, {});
    if (given && (credentials.code || isPairingNeeded(error) || isUnauthorized(error)))
      return line.state.set(refusedState(error, line.device, credentials.code ? "kept" : "typed"));
    if (isPairingNeeded(error) || isUnauthorized(error)) return refuse(line, error, kept);
    line.secret = credentials;
    line.state.set({ kind: "lost", message: failureText(error), retryAt: Date.now() + RETRY_MS });
    line.timer = setTimeout(() => void enter(line, credentials), RETRY_MS);
  }
}
