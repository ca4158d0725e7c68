import { t } from "../../../words/words.ts";
import type { CardFacts } from "./card.ts";

/** What a tool does, in the words of a sentence: to come, under way, done. */
type Verb = readonly [wanted: string, doing: string, done: string];

const RUN: Verb = [t("Run"), t("Running"), t("Ran")];
const READ: Verb = [t("Read the file"), t("Reading"), t("Read")];
const EDIT: Verb = [t("Edit"), t("Editing"), t("Edited")];
const WRITE: Verb = [t("Write"), t("Writing"), t("Wrote")];
const LIST: Verb = [t("List the folder"), t("Listing"), t("Listed")];
const SEARCH: Verb = [t("Search for"), t("Searching for"), t("Searched for")];

const VERBS: Readonly<Record<string, Verb>> = {
  exec: RUN,
  bash: RUN,
  process: [t("Check the process"), t("Checking the process"), t("Checked the process")],
  read: READ,
  write: WRITE,
  edit: EDIT,
  apply_patch: EDIT,
  ls: LIST,
  find: [t("Find"), t("Finding"), t("Found files by")],
  grep: SEARCH,
  memory_search: [t("Search memory for"), t("Searching memory for"), t("Searched memory for")],
  memory_get: [t("Read the note:"), t("Reading the note"), t("Read the note")],
  web_search: [t("Search the web for"), t("Searching the web for"), t("Searched the web for")],
  web_fetch: [t("Open"), t("Opening"), t("Opened")],
  browser: [t("Use the browser:"), t("Using the browser:"), t("Used the browser:")],
  canvas: [t("Show on the canvas:"), t("Showing on the canvas:"), t("Used the canvas:")],
  message: [t("Send a message:"), t("Sending a message:"), t("Sent a message:")],
  image: [t("Look at"), t("Looking at"), t("Looked at")],
  pdf: READ,
  image_generate: [t("Make a picture:"), t("Making a picture:"), t("Made a picture:")],
  tts: [t("Speak"), t("Speaking"), t("Spoke")],
  sessions_spawn: [t("Start a sub-agent:"), t("Starting a sub-agent:"), t("Started a sub-agent:")],
  sessions_send: [t("Write to the session"), t("Writing to the session"), t("Wrote to the session")],
};

const WANTED: ReadonlySet<CardFacts["state"]> = new Set(["asked", "denied", "expired", "restarted"]);

/** What a call does, did or was to do. */
export function verbOf(name: string, state: CardFacts["state"]): string {
  const verb = VERBS[name] ?? [t`Use ${name}`, t`Using ${name}`, t`Used ${name}`];
  return WANTED.has(state) ? verb[0] : state === "running" ? verb[1] : verb[2];
}
