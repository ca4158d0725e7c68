import { AppError } from "../../../base/errors.ts";
import type { Setup } from "../context.ts";

export interface RemoteResult {
  readonly mode: "remote";
  readonly remoteUrl: string;
  readonly auth: "token" | "none";
}

export async function chooseMode({ ask, given, flow, draft, place }: Setup): Promise<"local" | "remote"> {
  if (place.insideGateway && given.mode === "remote")
    throw new AppError(
      "INVALID_INPUT",
      "this gateway would not start again as remote; run openclaw onboard --mode remote on the machine that is to use another one",
    );
  if (given.mode) return given.mode;
  if (!ask || flow === "quickstart" || place.insideGateway) return "local";
  return ask.select<"local" | "remote">({
    message: "Where does the gateway run?",
    options: [
      { value: "local", label: "On this machine" },
      { value: "remote", label: "Elsewhere", hint: "this machine only uses it" },
    ],
    initialValue: draft.config.gateway?.mode ?? "local",
  });
}

const wrongUrl = (url: string): string | undefined =>
  /^wss?:\/\/[^\s/]+/.test(url.trim()) ? undefined : "an address that begins with ws:// or wss://, such as wss://gateway.example:18789";

/** Where the gateway is that this machine uses. */
export async function setUpRemote({ ask, given, draft, place }: Setup): Promise<RemoteResult> {
  const known = draft.config.gateway?.remote;
  const url =
    given.remote?.url ??
    (ask ? await ask.text({ message: "Its address", initialValue: known?.url, placeholder: "wss://gateway.example:18789", validate: wrongUrl }) : undefined);
  if (url === undefined)
    throw new AppError("INVALID_INPUT", "--mode remote needs --remote-url: the address of the gateway, such as wss://gateway.example:18789");
  const wrong = wrongUrl(url);
  if (wrong !== undefined) throw new AppError("INVALID_INPUT", `expected ${wrong}; got ${JSON.stringify(url)}`);
  const token = given.remote?.token ?? (ask ? (await ask.password({ message: "Its token (empty: this machine is paired, or none is needed)" })).trim() : "");
  if (token !== "") place.redactor.register(token);
  draft.merge({ gateway: { mode: "remote", remote: { url: url.trim(), ...(token === "" ? {} : { token }) } } });
  return { mode: "remote", remoteUrl: url.trim(), auth: token === "" && known?.token === undefined ? "none" : "token" };
}
