/** Skills, plugins, accounts of channels and devices in the palette: each opens its page. */
import type { MethodResult } from "openclaw/client";
import { nameOf as deviceName } from "../../pages/devices/device-facts.ts";
import { loadSkills } from "../../pages/skills/load-skills.ts";
import { partsOf, type SkillLine } from "../../pages/skills/skill-facts.ts";
import { t } from "../../words/words.ts";
import type { PageContext } from "../context.ts";
import { place } from "../router.ts";
import type { Entry } from "./entries.ts";

export type Channels = MethodResult<"channels.status">;
export type Device = MethodResult<"device.pair.list">["paired"][number];
export type Plugin = MethodResult<"plugins.list">["plugins"][number];

export interface Things {
  readonly skills: readonly SkillLine[];
  readonly plugins: readonly Plugin[];
  readonly channels: Channels | undefined;
  readonly devices: readonly Device[];
}

export const NO_THINGS: Things = { skills: [], plugins: [], channels: undefined, devices: [] };

/** What this browser may not see, or the gateway does not have, is left out. */
export async function loadThings(link: PageContext["link"], add: (part: Partial<Things>) => void): Promise<void> {
  const load = <T>(method: string, work: () => Promise<T>, use: (found: T) => void): Promise<void> | undefined =>
    link.has(method) ? work().then(use, () => undefined) : undefined;
  await Promise.all([
    load(
      "skills.status",
      () => loadSkills(link),
      ({ lines }) => add({ skills: lines }),
    ),
    load(
      "plugins.list",
      () => link.request("plugins.list", {}),
      ({ plugins }) => add({ plugins }),
    ),
    load(
      "channels.status",
      () => link.request("channels.status", {}),
      (channels) => add({ channels }),
    ),
  ]);
}

export function thingEntries({ router }: PageContext, { skills, plugins, channels, devices }: Things): readonly Entry[] {
  const entry = (icon: Entry["icon"], label: string, hint: string, page: string, parts: readonly string[]): Entry => {
    const to = place(page, parts);
    return { id: to, group: "things", icon, label, hint, run: () => router.go(to) };
  };
  const accounts = (channels?.channelOrder ?? []).flatMap((id) => {
    const all = channels?.channelAccounts[id] ?? [];
    const label = channels?.channelLabels[id] ?? id;
    return all.map(({ accountId, name }) =>
      entry("channels", all.length > 1 || accountId !== "default" ? `${label} (${name ?? accountId})` : label, t("Channel"), "channels", [id, accountId]),
    );
  });
  return [
    ...skills.map((line) => entry("skills", line.skill.name, t("Skill"), "skills", partsOf(line, skills))),
    ...plugins.map(({ id, name, status }) => entry("plugins", name, status === "disabled" ? t("Plugin, off") : t("Plugin"), "plugins", [id])),
    ...accounts,
    ...devices.map((device) => entry("devices", deviceName(device), t("Device"), "devices", [device.deviceId])),
  ];
}
