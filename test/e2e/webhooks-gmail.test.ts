/** Mail: the watcher of a real gateway, and the commands that set it up and run it, with programs that stand for Google's and Tailscale's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { makeGooglePrograms, type GooglePrograms } from "../fakes/google-programs.ts";
import { freePort } from "../harness/free-port.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { askedFor, HOOK_TOKEN } from "../harness/hook-client.ts";
import { programArguments } from "../harness/program.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const TOPIC = "projects/p/topics/mail";

const gmailOf = (port: number, more: object = {}) => ({
  account: "me@example.org",
  topic: TOPIC,
  pushToken: "push-token-0123456789",
  serve: { port },
  ...more,
});
const hooksOf = (gmail: object) => ({ hooks: { enabled: true, token: HOOK_TOKEN, presets: ["gmail"], gmail } });

async function startWatched(google: GooglePrograms, port: number, more: object = {}): Promise<LabGateway> {
  return startLabGateway({ sections: hooksOf(gmailOf(port, more)), env: { PATH: google.path } });
}

const served = ({ calls }: GooglePrograms): number => calls().filter(([program, ...args]) => program === "gog" && args[2] === "serve").length;
/** What Google pushes; the status of the answer, 0 while nobody listens. */
const push = (port: number, query: string, path = "/gmail-pubsub"): Promise<number> =>
  fetch(`http://127.0.0.1:${port}${path}?token=push-token-0123456789&${query}`, { method: "POST" }).then(
    ({ status }) => status,
    () => 0,
  );

test("a gateway with a mailbox registers the watch, serves it, passes mail on, and ends it", async () => {
  using google = makeGooglePrograms();
  const port = await freePort();
  await using gateway = await startWatched(google, port);
  await expect.poll(() => push(port, "id=m1&text=say%20w-mail1"), PATIENCE).toBe(202);
  await expect.poll(() => askedFor(gateway, "say w-mail1").length, PATIENCE).toBe(1);
  expect(askedFor(gateway, "say w-mail1")[0]!.user).toContain("Source: Email");
  const [start, serve] = google.calls();
  expect(start).toEqual(["gog", "gmail", "watch", "start", "--account", "me@example.org", "--label", "INBOX", "--topic", TOPIC]);
  expect(serve?.join(" ")).toMatch(
    /^gog gmail watch serve --account me@example.org --bind 127.0.0.1 --port \d+ --path \/gmail-pubsub --token \S+ --hook-url http:\/\/127.0.0.1:\d+\/hooks\/gmail --hook-token \S+ --include-body --max-bytes 20000$/,
  );
  expect(gateway.output()).not.toContain("push-token-0123456789");
  await gateway.stop();
  expect(await push(port, "id=m2")).toBe(0);
});

test("it is started again 5 s after it ended, and follows the settings while the gateway runs", async () => {
  using google = makeGooglePrograms();
  const [port, other] = [await freePort(), await freePort()];
  await using gateway = await startWatched(google, port);
  await expect.poll(() => push(port, "id=a&text=hello"), PATIENCE).toBe(202);
  await push(port, "", "/end");
  await expect.poll(() => served(google), PATIENCE).toBe(2);
  await expect.poll(() => push(port, "id=b&text=hello"), PATIENCE).toBe(202);
  gateway.configure(hooksOf(gmailOf(other, { includeBody: false })));
  await expect.poll(() => push(other, "id=c&text=hello"), PATIENCE).toBe(202);
  expect(await push(port, "id=d")).toBe(0);
  expect(google.calls().at(-1)).not.toContain("--include-body");
  gateway.configure({ hooks: { enabled: false, token: HOOK_TOKEN, gmail: gmailOf(other) } });
  await expect.poll(() => push(other, "id=e"), PATIENCE).toBe(0);
});

test("an address in use, a missing program and missing settings are named, and mail is the only thing that does not work", async () => {
  using google = makeGooglePrograms();
  const taken = createServer();
  taken.listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  await using gateway = await startWatched(google, port);
  await expect.poll(() => gateway.output(), PATIENCE).toContain(`another program is listening on 127.0.0.1:${port}`);
  expect(served(google)).toBe(1);
  gateway.configure(hooksOf({ account: "me@example.org", topic: TOPIC }));
  await expect.poll(() => gateway.output(), PATIENCE).toContain("hooks.gmail.pushToken is not set");
  google.remove("gog");
  gateway.configure(hooksOf(gmailOf(await freePort())));
  await expect.poll(() => gateway.output(), PATIENCE).toContain("gog is not installed or not on PATH");
  await gateway.aside();
  taken.close();
});

test("setup makes topic, subscription and watch, opens the path, and writes the settings; a second time it changes what is there", async () => {
  using google = makeGooglePrograms();
  const place = makePlace();
  place.configure('{ gateway: { mode: "local", auth: { token: "the-gateway-token-0123456789" } } }');
  const cli = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, [...programArguments(), "webhooks", "gmail", ...args], { env: { ...place.env, PATH: google.path }, cwd: place.home });
    let out = "";
    let err = "";
    child.stdout.on("data", (part) => (out += String(part)));
    child.stderr.on("data", (part) => (err += String(part)));
    const [code] = (await once(child, "close")) as [number];
    return { code, out, err };
  };
  const first = await cli("setup", "--account", "me@example.org", "--json");
  expect(first.err).not.toContain("error");
  expect(JSON.parse(first.out)).toMatchObject({
    ok: true,
    topic: "projects/my-project/topics/gog-gmail-watch",
    endpoint: "https://box.tail.ts.net/gmail-pubsub",
  });
  const lines = google.calls().map((call) => call.join(" "));
  expect(lines).toContain("tailscale funnel --bg --set-path /gmail-pubsub --yes 8788");
  expect(
    lines.some((line) =>
      /^gcloud pubsub subscriptions create gog-gmail-watch-push --topic gog-gmail-watch --push-endpoint https:\/\/box\.tail\.ts\.net\/gmail-pubsub\?token=\w{48} /.test(
        line,
      ),
    ),
  ).toBe(true);
  expect(lines.some((line) => line.includes("add-iam-policy-binding gog-gmail-watch --member serviceAccount:gmail-api-push@system.gserviceaccount.com"))).toBe(
    true,
  );
  const read = (path: string) => JSON.parse(place.cli("config", "get", path, "--json").stdout) as unknown;
  expect(read("hooks")).toMatchObject({
    enabled: true,
    path: "/hooks",
    presets: ["gmail"],
    gmail: { account: "me@example.org", serve: { path: "/", port: 8788 } },
  });
  expect((await cli("setup", "--account", "me@example.org", "--push-endpoint", "https://mail.example.org/in", "--port", "9999")).code).toBe(0);
  expect(google.calls().some((call) => call.includes("update") && call.some((word) => word.startsWith("https://mail.example.org/in?token=")))).toBe(true);
  expect(read("hooks.gmail")).toMatchObject({ tailscale: { mode: "off" }, serve: { path: "/gmail-pubsub", port: 9999 } });

  expect((await cli("setup")).err).toContain("--account");
  expect((await cli("setup", "--account", "a@b", "--port", "0")).err).toContain("--port takes");
  expect((await cli("setup", "--account", "a@b", "--tailscale", "off")).err).toContain("--push-endpoint");
  google.breakDown("gcloud", "w-denied");
  expect(await cli("setup", "--account", "a@b")).toMatchObject({ code: 1, err: expect.stringContaining("w-denied") });
  google.remove("tailscale");
  google.breakDown("gcloud", undefined);
  expect((await cli("setup", "--account", "a@b")).err).toContain("tailscale is not on the PATH");
});

test("run watches in the foreground with flags in place of settings, until it is stopped", async () => {
  using google = makeGooglePrograms();
  const [port, hook] = [await freePort(), await freePort()];
  const place = makePlace();
  place.configure(
    `{ gateway: { mode: "local" }, hooks: { token: "${HOOK_TOKEN}", gmail: { account: "a@b", topic: "${TOPIC}", pushToken: "push-token-0123456789" } } }`,
  );
  const args = ["webhooks", "gmail", "run", "--port", String(port), "--hook-url", `http://127.0.0.1:${hook}/x`, "--label", "Work"];
  const child = spawn(process.execPath, [...programArguments(), ...args], { env: { ...place.env, PATH: google.path }, cwd: place.home, stdio: "pipe" });
  const exited = once(child, "close");
  let output = "";
  child.stderr.on("data", (part) => (output += String(part)));
  await expect.poll(() => push(port, "id=m"), PATIENCE).toBe(502);
  expect(google.calls()[0]).toContain("Work");
  child.kill("SIGINT");
  expect([output, ...(await exited)]).toEqual([expect.not.stringContaining("error"), 0, null]);
  expect(await push(port, "id=m")).toBe(0);
});
