import { readFileSync, rmSync } from "node:fs";
import { createDevice, type TestDevice } from "../harness/auth.ts";
import { makePlace, type GatewayProcess } from "../harness/gateway-process.ts";
import { OPCODE } from "./frame.ts";
import { connectRequest, nonceOf, openRaw, type RawSocket } from "./raw-socket.ts";

const TOKEN = "wire-test-token";

/** The real program, and sockets to it. */
export interface WireGateway extends AsyncDisposable {
  readonly process: GatewayProcess;
  readonly port: number;
  readonly device: TestDevice;
  readonly token: string;
  /** After the challenge, before hello. */
  stranger(): Promise<RawSocket>;
  /** After hello, with every scope. */
  client(): Promise<RawSocket>;
  /** Resident memory in bytes. */
  memory(): number;
}

export async function startWireGateway(env: Readonly<Record<string, string>> = {}): Promise<WireGateway> {
  const place = makePlace();
  const started = await place.gateway({ env: { OPENCLAW_GATEWAY_TOKEN: TOKEN, ...env } });
  if (started.url === undefined) throw new Error(`the gateway did not start:\n${started.output()}`);
  const port = Number(new URL(started.url).port);
  const device = createDevice();
  return {
    process: started,
    port,
    device,
    token: TOKEN,
    async stranger() {
      const raw = await openRaw(port);
      await nonceOf(raw);
      return raw;
    },
    async client() {
      const raw = await openRaw(port);
      await raw.frame(OPCODE.text, connectRequest(device, TOKEN, await nonceOf(raw)));
      const { ok, error } = await raw.response("connect");
      if (ok !== true) throw new Error(`hello was refused: ${error?.message}`);
      return raw;
    },
    memory() {
      const [, pages] = readFileSync(`/proc/${started.child.pid}/statm`, "utf8").split(" ");
      return Number(pages) * 4096;
    },
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      rmSync(place.home, { recursive: true, force: true });
    },
  };
}
