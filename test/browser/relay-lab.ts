/** A lab with the profile `chrome`, and a Chrome whose user has the extension. */
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { loadExtension } from "../../src/browser/index.ts";
import { freePort } from "../harness/free-port.ts";
import { openChrome, type UserChrome } from "./chrome.ts";
import { openLab, type Lab, type User } from "./lab.ts";

export interface RelayLab extends AsyncDisposable {
  readonly lab: Lab;
  readonly chrome: UserChrome;
  readonly port: number;
  readonly secret: string;
  /** A session whose calls are all about the shared tabs. */
  agent(): User;
  /** Opens a page of the shop and shares its tab. */
  share(path: string): ReturnType<UserChrome["open"]>;
}

/** A user of the tool who names the profile with every call. */
export function onShared(user: User): User {
  const call: User["call"] = (params) => user.call({ profile: "chrome", ...params });
  return {
    call,
    text: (params) => user.text({ profile: "chrome", ...params }),
    failure: (params) => user.failure({ profile: "chrome", ...params }),
    act: (request) => user.text({ profile: "chrome", action: "act", request }),
    open: () => Promise.reject(new Error("tabs are shared, not opened")),
  };
}

export async function openRelayLab(): Promise<RelayLab> {
  await using stack = new AsyncDisposableStack();
  const lab = stack.use(await openLab());
  const port = await freePort();
  await lab.change({ profiles: { chrome: { driver: "extension", cdpUrl: `http://127.0.0.1:${port}`, color: "#00AA00" } } });
  const { installExtension } = await loadExtension();
  const { path, secret } = installExtension({
    stateDir: lab.state,
    ids: createIds(systemRandom),
    gatewayPort: 1,
    config: lab.config.current,
    profile: "chrome",
  });
  const chrome = stack.use(await openChrome(path));
  const open = stack.move();
  return {
    lab,
    chrome,
    port,
    secret,
    agent: () => onShared(lab.user()),
    async share(at) {
      const page = await chrome.open(lab.at(at));
      await chrome.click(page);
      return page;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
