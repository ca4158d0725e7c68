import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scanned, scannedInTerminal } from "../../test/fakes/whatsapp/picture.ts";
import { openLab, type Lab } from "./testing.ts";

const PATIENCE = { timeout: 15_000, interval: 10 };
async function isUp(lab: Lab): Promise<void> {
  await expect.poll(() => lab.status.connected, PATIENCE).toBe(true);
}

/** The host calls these with the configuration that it has. */
function gatewayOf(lab: Lab) {
  const account = lab.channel.accounts.read(lab.cfg, "default");
  const { logins } = lab.channel;
  return { account, start: (options = {}) => logins.start(account, options), wait: (timeoutMs?: number) => logins.wait(account, timeoutMs) };
}

test("a phone that scans the picture links the device, and the account connects with what was stored", async () => {
  await using lab = await openLab({ linked: false });
  const { start, wait } = gatewayOf(lab);
  expect(await lab.channel.config.isConfigured!(lab.channel.accounts.read(lab.cfg, "default"), lab.cfg)).toBe(false);
  const { qrDataUrl, message } = await start();
  expect(message).toContain("Linked devices");
  const text = scanned(qrDataUrl!);
  expect(text).toContain("2@");
  expect(existsSync(join(lab.authDir, "creds.json")), "nothing is stored before the phone has answered").toBe(false);
  lab.whatsapp.scan(text!);
  expect(await wait()).toEqual({ connected: true, message: "Linked as +15550001000." });
  expect(statSync(join(lab.authDir, "creds.json")).mode & 0o777).toBe(0o600);
  lab.start();
  await isUp(lab);
  await lab.whatsapp.deliver({ from: lab.bob, message: { conversation: "hello" } });
  await expect.poll(() => lab.events.map(({ text: one }) => one), { timeout: 30_000, interval: 20 }).toEqual(["hello"]);
});

test("a code that is typed on the phone links the device as well", async () => {
  await using lab = await openLab({ linked: false });
  const { start, wait } = gatewayOf(lab);
  const { code, message } = await start({ phoneNumber: "15550001000" });
  expect(code).toMatch(/^[1-9A-Z]{8}$/);
  expect(message).toContain(code);
  await expect
    .poll(() => lab.whatsapp.stanzas.some(({ content }) => Array.isArray(content) && content[0]?.tag === "link_code_companion_reg"), PATIENCE)
    .toBe(true);
  lab.whatsapp.enterCode(code!);
  expect(await wait()).toMatchObject({ connected: true });
});

test("the gateway's method takes the number as people write it, and refuses what is none", async () => {
  await using lab = await openLab({ linked: false });
  const { loginWithQrStart, loginWithQrWait } = lab.channel.gateway!;
  const { code, qrDataUrl } = await loginWithQrStart!({ accountId: "default", phoneNumber: "+1 (555) 000-1000" });
  expect([code, qrDataUrl]).toEqual([expect.stringMatching(/^[1-9A-Z]{8}$/), undefined]);
  await expect
    .poll(() => lab.whatsapp.stanzas.some(({ content }) => Array.isArray(content) && content[0]?.tag === "link_code_companion_reg"), PATIENCE)
    .toBe(true);
  lab.whatsapp.enterCode(code!);
  expect(await loginWithQrWait!({ accountId: "default" })).toMatchObject({ connected: true });
  expect(await loginWithQrStart!({ accountId: "default", force: true, phoneNumber: "ada" })).toEqual({ message: expect.stringMatching(/7 to 15 digits/) });
});

test("an account that is linked stays so while a new login is tried, and is asked for force first", async () => {
  await using lab = await openLab();
  const { start, wait } = gatewayOf(lab);
  const before = readFileSync(join(lab.authDir, "creds.json"), "utf8");
  expect((await start()).message).toMatch(/already linked as \+15550001000.*force/);
  const { qrDataUrl } = await start({ force: true });
  expect(qrDataUrl).toMatch(/^data:image\/png;base64,/);
  await lab.channel.logins.cancelAll();
  expect(await wait()).toMatchObject({ connected: false });
  expect(readFileSync(join(lab.authDir, "creds.json"), "utf8")).toBe(before);
});

test("waiting without a login says so, and a code that nobody scans is still waited for", async () => {
  await using lab = await openLab({ linked: false });
  const { start, wait } = gatewayOf(lab);
  expect(await wait()).toEqual({ connected: false, message: "No login in progress. Start one first." });
  await start();
  expect(await wait(10)).toMatchObject({ connected: false, message: expect.stringContaining("not been scanned yet") as string });
  await lab.channel.logins.cancelAll();
});

test("channels login prints the picture, links, and connects once", async () => {
  await using lab = await openLab({ linked: false });
  const lines: string[] = [];
  const done = lab.channel.auth!.login!({ cfg: lab.cfg, runtime: { log: (text: string) => void lines.push(text) } as never });
  await expect.poll(() => lines.some((line) => line.includes("█")), PATIENCE).toBe(true);
  const { qrDataUrl } = await lab.channel.logins.start(lab.channel.accounts.read(lab.cfg, "default"), {}).catch(() => ({ qrDataUrl: undefined }));
  expect(qrDataUrl, "one login at a time").toBeUndefined();
  lab.whatsapp.scan(scannedInTerminal(lines.find((line) => line.includes("█"))!)!);
  await done;
  expect(lines.at(-1)).toContain("Linked as +15550001000");
  expect(lab.whatsapp.world.devices[0]!.preKeys.length, "it uploaded its keys").toBeGreaterThan(100);
});

test("without a network a login says that WhatsApp could not be reached and what to check, on the page and in the terminal, and holds nothing", async () => {
  await using lab = await openLab({ linked: false });
  await lab.whatsapp.down();
  const { start, wait } = gatewayOf(lab);
  const unreachable = expect.stringMatching(/WhatsApp could not be reached: .+ Check the network/) as string;
  expect(await start()).toEqual({ message: unreachable });
  expect(await start({ phoneNumber: "15550001000" })).toEqual({ message: unreachable });
  expect(await wait()).toMatchObject({ connected: false });
  for (const phoneNumber of [undefined, "+15550001000"])
    await expect(lab.channel.auth!.login!({ cfg: lab.cfg, phoneNumber, runtime: { log: () => {} } as never })).rejects.toMatchObject({ message: unreachable });
  await lab.whatsapp.up();
  expect((await start()).qrDataUrl).toMatch(/^data:image/);
  await lab.channel.logins.cancelAll();
});

test("of two accounts that are linked to one number the doctor reports the second", async () => {
  await using lab = await openLab();
  const { channel, folder, authDir } = lab;
  cpSync(authDir, join(folder, "other"), { recursive: true });
  const cfg = { channels: { whatsapp: { allowFrom: ["+491701234567"], accounts: { default: {}, work: { authDir: join(folder, "other") } } } } };
  const examine = async (id: string) => channel.status!.examineAccount!({ account: channel.accounts.read(cfg, id), cfg, hasProgram: async () => true });
  expect(await examine("default")).toEqual([]);
  expect(await examine("work")).toMatchObject([{ id: "twin", message: expect.stringContaining("the same WhatsApp login") as string }]);
});

test("logging out takes the device off the phone and removes the login alone", async () => {
  await using lab = await openLab();
  writeFileSync(join(lab.authDir, "notes.txt"), "mine");
  const account = lab.channel.accounts.read(lab.cfg, "default");
  const result = await lab.channel.gateway!.logoutAccount!({ cfg: lab.cfg, accountId: "default", account, runtime: {} as never });
  expect(result).toEqual({ cleared: true, loggedOut: true });
  expect(readdirSync(lab.authDir)).toEqual(["notes.txt"]);
  expect(lab.whatsapp.world.devices).toEqual([]);
});

test("logging out without a connection forgets the login and says that the phone still lists it", async () => {
  await using lab = await openLab();
  await lab.whatsapp.down();
  const account = lab.channel.accounts.read(lab.cfg, "default");
  const result = await lab.channel.gateway!.logoutAccount!({ cfg: lab.cfg, accountId: "default", account, runtime: {} as never });
  expect(result).toEqual({ cleared: true, loggedOut: false });
});
