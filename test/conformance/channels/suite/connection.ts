import { expect } from "vitest";
import type { ChannelLab } from "../lab.ts";
import type { Scene } from "../conformance.ts";
import { exchange, exchangeToEnd, hears, hearsAtLast, isDown, isUp, textsIn, until } from "./heard.ts";

/** No secret stands in what the gateway printed or says of an account. */
async function keepsSecrets(lab: ChannelLab): Promise<void> {
  const visible = `${lab.gateway.output()}${JSON.stringify(await lab.gateway.account(lab.channel))}`;
  for (const secret of lab.secrets) expect(visible).not.toContain(secret);
}

/** Switches the channel's section on or off, as an edit of the file does. */
function switchTo(lab: ChannelLab, enabled: boolean): void {
  const channels = lab.gateway.sections["channels"] as Readonly<Record<string, object>>;
  lab.gateway.configure({ channels: { ...channels, [lab.channel]: { ...channels[lab.channel], enabled } } });
}

/** Connections that break, are refused, and end. */
export function connectionTests({ checkWith, checkAmongOthers }: Scene): void {
  checkAmongOthers(["reconnect"], "a connection that breaks is made again", async (lab) => {
    await exchangeToEnd(lab, "w-apple");
    await lab.dropConnection!();
    await isUp(lab);
    await exchange(lab, "w-plum");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-plum."]);
    expect(lab.conflicts()).toBe(0);
  });

  checkAmongOthers(["missed"], "what was said while the platform could not be reached is answered, once", async (lab) => {
    await exchangeToEnd(lab, "w-apple");
    await lab.away!(async () => {
      await lab.say("meanwhile w-pear");
    });
    await hearsAtLast(lab, "w-pear");
    await exchange(lab, "w-plum");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-pear.", "Heard w-plum."]);
  });

  checkWith(
    "account",
    "an account that is refused is down with the reason, does not try again by itself, and comes up when it is mended",
    async (lab) => {
      await isDown(lab);
      const account = await lab.gateway.account(lab.channel);
      expect(account?.lastError, JSON.stringify(account)).toMatch(/\S/);
      expect(account?.connected ?? false).toBe(false);
      expect((account as { readonly health?: { readonly state: string } } | undefined)?.health?.state, "nothing more happens by itself").toBe("down");
      const before = lab.traffic();
      expect(before).toBeLessThanOrEqual(5);
      await lab.gateway.aside();
      expect(lab.traffic()).toBe(before);
      await keepsSecrets(lab);
      await lab.mendCredentials!();
      await isUp(lab);
      await exchange(lab, "w-apple");
    },
    { credentials: "wrong" },
  );

  checkAmongOthers(
    ["account"],
    "an account that is switched off asks nothing more of the platform, and has one connection when it is on again",
    async (lab) => {
      await exchange(lab, "w-apple");
      switchTo(lab, false);
      await isDown(lab);
      await until(
        () => lab.connections() === 0,
        () => `${lab.connections()} connections are left`,
      );
      const before = lab.traffic();
      await lab.say("into the w-void");
      await lab.gateway.aside();
      expect(lab.traffic()).toBe(before);
      expect(textsIn(lab)).toEqual(["Heard w-apple."]);
      switchTo(lab, true);
      await isUp(lab);
      await exchange(lab, "w-plum");
      expect(textsIn(lab).filter((text) => text.includes("w-plum"))).toHaveLength(1);
      expect(lab.conflicts()).toBe(0);
    },
  );

  checkAmongOthers([], "a gateway that is stopped ends, and leaves no connection", async (lab) => {
    await exchange(lab, "w-apple");
    expect(await lab.gateway.stop()).toEqual({ code: 0, signal: null });
    await until(
      () => lab.connections() === 0,
      () => `${lab.connections()} connections are left`,
    );
    for (const secret of lab.secrets) expect(lab.gateway.output()).not.toContain(secret);
    await lab.gateway.start();
    await isUp(lab);
    await exchange(lab, "w-plum");
    expect(textsIn(lab).filter((text) => text.includes("w-apple"))).toHaveLength(1);
    expect(lab.conflicts()).toBe(0);
  });

  checkAmongOthers(["missed"], "what was said while the gateway was stopped is answered when it starts, once", async (lab) => {
    await exchange(lab, "w-apple");
    await lab.gateway.stop();
    await lab.say("meanwhile w-pear");
    await lab.gateway.start();
    await hears(lab, "w-pear");
    await exchange(lab, "w-plum");
    expect(textsIn(lab).filter((text) => text.includes("w-pear"))).toHaveLength(1);
  });
}
