import type { Asker } from "../../../setup/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { Option } from "@clack/prompts";
import type { Io } from "../../io.ts";
import type { WizardSelectOption } from "../../../protocol/index.ts";

/** Questions at a terminal. They go to the error output: the standard output is the command's answer. */

/** More options than this are searched by typing. */
const MANY = 12;

const left = (): AppError => new AppError("CANCELLED", "Setup cancelled. Unfinished changes were not saved");

/** Clack wants a label for each option, and no key that is there and undefined. */
const optionsFor = <T>(options: readonly WizardSelectOption<T>[]) =>
  options.map(({ value, label, hint }) => ({ value, label, ...(hint === undefined ? {} : { hint }) })) as Option<unknown>[];

export async function terminalAsker({ runnable }: Pick<Io, "runnable">): Promise<Asker> {
  const [clack, { asksForSecret }] = await Promise.all([import("@clack/prompts"), import("../../../setup/index.ts")]);
  const output = process.stderr;
  const answered = <T>(answer: T): Exclude<T, symbol> => {
    if (typeof answer === "symbol") throw left();
    return answer as Exclude<T, symbol>;
  };
  const checked = (validate: ((value: string) => string | undefined) | undefined) =>
    validate ? { validate: (value: string | undefined) => validate(value ?? "") } : {};
  return {
    intro: async (title) => clack.intro(title, { output }),
    outro: async (message) => clack.outro(runnable(message), { output }),
    note: async (message, title) => clack.note(runnable(message), title, { output }),
    async select({ message, options, initialValue }) {
      const first = initialValue === undefined ? {} : { initialValue };
      const ask = options.length > MANY ? clack.autocomplete : clack.select;
      return answered(await ask({ message, options: optionsFor(options), maxItems: MANY, output, ...first })) as never;
    },
    async multiselect({ message, options, initialValues = [] }) {
      return answered(await clack.multiselect({ message, options: optionsFor(options), initialValues, required: false, maxItems: MANY, output })) as never;
    },
    async text({ message, initialValue, placeholder, sensitive, validate }) {
      // A stored secret is not offered for editing: that would show it.
      if (asksForSecret({ message, sensitive })) return answered(await clack.password({ message, output, ...checked(validate) })) ?? "";
      const shown = { ...(initialValue === undefined ? {} : { initialValue }), ...(placeholder === undefined ? {} : { placeholder }) };
      return answered(await clack.text({ message, output, ...shown, ...checked(validate) })) ?? "";
    },
    async password({ message, validate }) {
      return answered(await clack.password({ message, output, ...checked(validate) })) ?? "";
    },
    async confirm({ message, initialValue = true }) {
      return answered(await clack.confirm({ message, initialValue, output }));
    },
    progress(label) {
      const spinner = clack.spinner({ output });
      spinner.start(label);
      return { update: (text) => spinner.message(text), stop: (text) => spinner.stop(text) };
    },
  };
}
