import { isGroup, type Entry, type OptionSpecs } from "../../command.ts";

/** A word that can be typed at a place, with what it means. */
export interface Word {
  readonly text: string;
  readonly help: string;
}

/** What can follow a command: those below it, and its flags. */
export interface Place {
  /** The command as it is typed, without the program's name; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly flags: readonly Word[];
  /** Flags that take a value: the word behind one is not a command. */
  readonly valued: readonly string[];
}

const HELP: Word = { text: "--help", help: "Print this help" };

function flagsOf(options: OptionSpecs): Pick<Place, "flags" | "valued"> {
  const entries = Object.entries(options);
  return {
    flags: [...entries.map(([name, { help }]) => ({ text: `--${name}`, help })), HELP],
    valued: entries.flatMap(([name, { type, short }]) => (type === "string" ? [`--${name}`, ...(short ? [`-${short}`] : [])] : [])),
  };
}

const wordOf = ({ name, summary }: Pick<Entry, "name" | "summary">): Word => ({ text: name, help: summary });

/** Every command with what can follow it, the program itself first. All commands are loaded for it. */
export async function placesOf(entries: readonly Entry[], root: OptionSpecs, brought: readonly Pick<Entry, "name" | "summary">[]): Promise<readonly Place[]> {
  const places: Place[] = [{ path: "", commands: [...entries, ...brought].map(wordOf), ...flagsOf(root) }];
  async function add(list: readonly Entry[], above: string): Promise<void> {
    for (const entry of list) {
      const path = above === "" ? entry.name : `${above} ${entry.name}`;
      const loaded = await entry.load();
      if (!isGroup(loaded)) {
        places.push({ path, commands: [], ...flagsOf(loaded.options) });
        continue;
      }
      const usual = await loaded.entries.find(({ name }) => name === loaded.fallback)?.load();
      places.push({ path, commands: loaded.entries.map(wordOf), ...flagsOf(usual && !isGroup(usual) ? usual.options : {}) });
      await add(loaded.entries, path);
    }
  }
  await add(entries, "");
  return places;
}
