import { expect, test } from "vitest";
import { tableFindings } from "./page-texts.ts";
import { pageTexts } from "./words/find-texts.ts";

const untranslated = (code: string): readonly string[] => pageTexts(code).untranslated.map(({ text }) => text.replaceAll("\uFFFC", "${…}"));

test.each([
  ["text between tags", "html`<p>Nothing here yet</p>`", ["Nothing here yet"]],
  ["text with a value", "html`<p>Delete ${name}?</p>`", ["Delete ${…}?"]],
  ["an attribute that is read", 'html`<button title="Close the list" class="small plain"></button>`', ["Close the list"]],
  ["a text in the code", 'toasts.say("Session deleted");', ["Session deleted"]],
  ["one word that is a label", 'const tab = { label: "Files", path: "files" };', ["Files"]],
  ["a template in the code", "toasts.say(`${name} was saved`);", ["${…} was saved"]],
  ["a short word in the content of an element", 'html`<p>${isOn ? "running" : "–"} ${count === 1 ? "" : `${count} left`}</p>`', ["running", "${…} left"]],
  ["a word that is counted", 'plural(3, "session", "sessions");', ["session", "sessions"]],
])("a text that readers see is found: %s", (_, code, expected) => expect(untranslated(code)).toEqual(expected));

test.each([
  ["texts that go through t", 'html`<p>${t("Nothing here yet")}</p>`; toasts.say(t`${name} was saved`);'],
  ["code and keys", "html`<kbd>Ctrl</kbd><code>openclaw agents list</code>`"],
  [
    "names of methods, events and attributes",
    'link.request("agents.files.list", {}); addEventListener("Some Event", f); html`<p class=${wide ? "a b" : "c d"}></p>`;',
  ],
  [
    "pieces of attributes, and names in the content",
    'html`<i class="a ${on ? "b" : ""} c ${kind}" ${modal()} id=${isOk ? "d" : "e"}>${path ?? "cron.enabled"} ${hasIt ? "JSON" : "OK"}</i>`',
  ],
  ["comparisons and types", 'type State = "under way" | "over"; if (state === "under way") done();'],
  ["styles", "css`p { margin: 0 auto; }`"],
])("what readers do not see is passed over: %s", (_, code) => expect(untranslated(code)).toEqual([]));

test("values have their positions in the key", () => expect(pageTexts("t`${shown} of ${all} files`").keys).toEqual(["{0} of {1} files"]));

test("a language that lacks a text, has one too many or loses a value is reported", () => {
  const keys = new Set(["Save", "Delete {0}?"]);
  expect(tableFindings({ Save: "Speichern", "Delete {0}?": "{0} löschen?" }, keys)).toEqual([]);
  expect(tableFindings({ "Delete {0}?": "Löschen?", Old: "Alt" }, keys)).toEqual([
    'has no "Save"',
    'has "Old", which the page does not use',
    'has "Löschen?" for "Delete {0}?": the values differ',
  ]);
});
