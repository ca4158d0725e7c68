/** Questions that go over a connection as steps, and come back as answers. */
import type { Ids } from "../../base/ids.ts";
import type { MethodResult, WizardSelectOption } from "../../protocol/index.ts";
import { asksForSecret, left, type Asker } from "../asker.ts";

export type WireStep = NonNullable<MethodResult<"wizard.next">["step"]>;

export interface WireAsker extends Asker {
  /** The step that waits for an answer. */
  readonly step: WireStep | undefined;
  /** Answers it. Gives what is wrong with the value, and then it waits still. */
  answer(value: unknown): string | undefined;
  /** Rejects every question, open and later, as left. */
  leave(): void;
}

interface Open {
  readonly step: WireStep;
  /** The value as the wizard takes it, or what is wrong with it. */
  read(value: unknown): { readonly value: unknown } | { readonly wrong: string };
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const LONGEST_TEXT = 8192;
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** `onStep` is called when a question waits for its answer. */
export function createWireAsker(ids: Pick<Ids, "hex">, onStep: () => void): WireAsker {
  let open: Open | undefined;
  let isLeft = false;

  function asked<T>(step: Omit<WireStep, "id">, read: Open["read"]): Promise<T> {
    if (isLeft) return Promise.reject(left());
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    open = { step: { id: ids.hex(6), ...step }, read, resolve, reject };
    onStep();
    return promise as Promise<T>;
  }

  const text = (step: Omit<WireStep, "id">, validate: ((value: string) => string | undefined) | undefined): Promise<string> =>
    asked(step, (value) => {
      const written = value ?? "";
      if (typeof written !== "string" || written.length > LONGEST_TEXT) return { wrong: `expected a text of at most ${LONGEST_TEXT} characters` };
      const wrong = validate?.(written);
      return wrong === undefined ? { value: written } : { wrong };
    });
  const shown = <T>(options: readonly WizardSelectOption<T>[]) =>
    options.map(({ value, label, hint }) => ({ value, label, ...(hint === undefined ? {} : { hint }) }));

  return {
    get step() {
      return open?.step;
    },
    answer(value) {
      if (!open) return "nothing was asked";
      const read = open.read(value);
      if ("wrong" in read) return read.wrong;
      const { resolve } = open;
      open = undefined;
      resolve(read.value);
      return undefined;
    },
    leave() {
      isLeft = true;
      open?.reject(left());
      open = undefined;
    },
    intro: async () => undefined,
    outro: async () => undefined,
    note: (message, title) => asked({ type: "note", message, ...(title === undefined ? {} : { title }) }, () => ({ value: undefined })),
    select: ({ message, options, initialValue }) =>
      asked({ type: "select", message, options: shown(options), ...(initialValue === undefined ? {} : { initialValue }) }, (value) => {
        const found = options.find((option) => same(option.value, value));
        return found ? { value: found.value } : { wrong: "expected the value of one of the options" };
      }),
    multiselect: ({ message, options, initialValues }) =>
      asked({ type: "multiselect", message, options: shown(options), ...(initialValues === undefined ? {} : { initialValue: initialValues }) }, (value) => {
        const found = Array.isArray(value) ? value.map((one) => options.find((option) => same(option.value, one))) : [undefined];
        return found.every((option) => option !== undefined)
          ? { value: found.map((option) => option.value) }
          : { wrong: "expected a list of values of the options" };
      }),
    text({ message, initialValue, placeholder, sensitive, validate }) {
      const shown = placeholder === undefined ? {} : { placeholder };
      // A stored secret is not offered for editing: that would show it.
      if (asksForSecret({ message, sensitive })) return text({ type: "text", message, sensitive: true, ...shown }, validate);
      return text({ type: "text", message, ...(initialValue === undefined ? {} : { initialValue }), ...shown }, validate);
    },
    password: ({ message, placeholder, validate }) =>
      text({ type: "text", message, sensitive: true, ...(placeholder === undefined ? {} : { placeholder }) }, validate),
    confirm: ({ message, initialValue }) =>
      asked({ type: "confirm", message, ...(initialValue === undefined ? {} : { initialValue }) }, (value) =>
        typeof value === "boolean" ? { value } : { wrong: "expected true or false" },
      ),
    progress: () => ({ update: () => undefined, stop: () => undefined }),
  };
}
