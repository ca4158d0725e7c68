import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Misconfiguration } from "../../channels/index.ts";
import type { Config, LocatedIssue } from "../../config/index.ts";
import type { Plugins } from "../plugins/index.ts";

/** Holds the sections of channels against the schemas of the plugins that run, in the background. */
export interface SectionCheck extends Disposable {
  /** Plugins came, went or were loaded anew. */
  look(): void;
  /** What is wrong with a channel's section as it is now. */
  wrongIn(channel: string): readonly Misconfiguration[];
}

const isIn = (section: string, path: string): boolean => path === section || path.startsWith(`${section}.`);

export function createSectionCheck({
  config,
  plugins,
  log,
}: {
  readonly config: Config;
  readonly plugins: Pick<Plugins, "sections">;
  readonly log: Logger;
}): SectionCheck {
  let told = new Set<string>();
  const wrong = (): readonly LocatedIssue[] => config.snapshot().warnings.filter(({ path }) => isIn("channels", path));

  /** Every one is logged once for as long as it stands. */
  function tell(): void {
    const found = wrong().map(({ path, message, file, line }) => ({ key: `${path}\0${message}`, text: `${path}: ${message} (${file}:${line})` }));
    for (const { key, text } of found) if (!told.has(key)) log.warn(`a channel is misconfigured: ${text}`);
    told = new Set(found.map(({ key }) => key));
  }

  async function look(): Promise<void> {
    const sections = await plugins.sections();
    if (!sections) return;
    config.extend(sections);
    tell();
  }

  const listening = config.onEvent((event) => {
    if (event.kind !== "invalid") tell();
  });
  return {
    look: () => void look().catch((error: unknown) => log.warn(`the settings of channels could not be checked: ${messageOf(error)}`, { error })),
    wrongIn: (channel) =>
      wrong()
        .filter(({ path }) => isIn(`channels.${channel}`, path))
        .map(({ path, message, file, line }) => ({ path, message, fix: `Change it in line ${line} of ${file}.` })),
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
