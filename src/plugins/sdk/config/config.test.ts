import { describe, expect, it } from "vitest";
import { createAccountListHelpers, normalizeAccountId, normalizeOptionalAccountId, resolveChannelAccountConfigBasePath } from "../account-ids.ts";
import {
  applyAccountNameToChannelSection,
  deleteAccountFromConfigSection,
  migrateBaseNameToDefaultAccount,
  setAccountEnabledInConfigSection,
} from "./config-sections.ts";

describe("account ids", () => {
  it.each([
    [undefined, "default"],
    ["", "default"],
    ["  Work ", "work"],
    ["My Account!", "my-account"],
    ["--x--", "x"],
    ["a_b-c", "a_b-c"],
    ["äöü", "default"],
    ["x".repeat(100), "x".repeat(64)],
  ])("%j becomes %j", (given, id) => {
    expect(normalizeAccountId(given)).toBe(id);
  });

  it("stay nothing where nothing is allowed", () => {
    expect(normalizeOptionalAccountId(" ")).toBeUndefined();
  });

  it("are listed sorted, and the default one is there without any", () => {
    const irc = createAccountListHelpers("irc");
    expect(irc.listAccountIds({})).toEqual(["default"]);
    const cfg = { channels: { irc: { accounts: { work: {}, home: {} } } } };
    expect(irc.listAccountIds(cfg)).toEqual(["home", "work"]);
    expect(irc.resolveDefaultAccountId(cfg)).toBe("home");
    expect(irc.listConfiguredAccountIds({ channels: { irc: { accounts: [] } } })).toEqual([]);
  });

  it("say where their keys stand", () => {
    const cfg = { channels: { irc: { accounts: { work: {} } } } };
    expect(resolveChannelAccountConfigBasePath({ cfg, channelKey: "irc", accountId: "work" })).toBe("channels.irc.accounts.work.");
    expect(resolveChannelAccountConfigBasePath({ cfg, channelKey: "irc", accountId: "default" })).toBe("channels.irc.");
  });
});

describe("changes of a channel's section", () => {
  const cfg = { gateway: { port: 1 }, channels: { irc: { name: "Home", nick: "claw" } } };

  it("switch the channel itself only while it lists no accounts", () => {
    const params = { cfg, sectionKey: "irc", accountId: "default", enabled: false, allowTopLevel: true };
    expect(setAccountEnabledInConfigSection(params).channels).toEqual({ irc: { name: "Home", nick: "claw", enabled: false } });
    const listed = { channels: { irc: { accounts: { work: { nick: "w" } } } } };
    expect(setAccountEnabledInConfigSection({ ...params, cfg: listed }).channels?.["irc"]).toEqual({
      accounts: { work: { nick: "w" }, default: { enabled: false } },
    });
    expect(setAccountEnabledInConfigSection({ ...params, cfg: {}, accountId: "work", enabled: true })).toEqual({
      channels: { irc: { accounts: { work: { enabled: true } } } },
    });
  });

  it("take an account out, and the section with the last one", () => {
    const two = { channels: { irc: { nick: "claw", password: "x", accounts: { default: {}, work: {} } } } };
    expect(deleteAccountFromConfigSection({ cfg: two, sectionKey: "irc", accountId: "work" }).channels?.["irc"]).toEqual({
      nick: "claw",
      password: "x",
      accounts: { default: {} },
    });
    expect(deleteAccountFromConfigSection({ cfg: two, sectionKey: "irc", accountId: "default", clearBaseFields: ["password"] }).channels?.["irc"]).toEqual({
      nick: "claw",
      accounts: { work: {} },
    });
    expect(deleteAccountFromConfigSection({ cfg, sectionKey: "irc", accountId: "default" })).toEqual({ gateway: { port: 1 } });
    expect(deleteAccountFromConfigSection({ cfg, sectionKey: "slack", accountId: "default" })).toBe(cfg);
  });

  it("name an account where its keys are", () => {
    const named = (accountId: string, more = {}) =>
      applyAccountNameToChannelSection({ cfg, channelKey: "irc", accountId, name: " Office ", ...more }).channels?.["irc"];
    expect(named("default")).toEqual({ name: "Office", nick: "claw" });
    expect(named("work")).toEqual({ name: "Home", nick: "claw", accounts: { work: { name: "Office" } } });
    expect(named("default", { alwaysUseAccounts: true })).toEqual({ nick: "claw", accounts: { default: { name: "Office" } } });
    expect(applyAccountNameToChannelSection({ cfg, channelKey: "irc", accountId: "x", name: " " })).toBe(cfg);
  });

  it("move the channel's name to its default account, which keeps one it has", () => {
    expect(migrateBaseNameToDefaultAccount({ cfg, channelKey: "irc" }).channels?.["irc"]).toEqual({ nick: "claw", accounts: { default: { name: "Home" } } });
    const both = { channels: { irc: { name: "Home", accounts: { default: { name: "Own" } } } } };
    expect(migrateBaseNameToDefaultAccount({ cfg: both, channelKey: "irc" }).channels?.["irc"]).toEqual({ accounts: { default: { name: "Own" } } });
  });

  it("never change what they were given", () => {
    const before = structuredClone(cfg);
    setAccountEnabledInConfigSection({ cfg, sectionKey: "irc", accountId: "work", enabled: true });
    deleteAccountFromConfigSection({ cfg, sectionKey: "irc", accountId: "default" });
    applyAccountNameToChannelSection({ cfg, channelKey: "irc", accountId: "default", name: "x", alwaysUseAccounts: true });
    migrateBaseNameToDefaultAccount({ cfg, channelKey: "irc" });
    expect(cfg).toEqual(before);
  });
});
