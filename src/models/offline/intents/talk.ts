import { say } from "../reply.ts";
import type { Intent } from "../turn.ts";
import { unquoted } from "../user-text.ts";
import { abilitiesText, ADDING_A_KEY, INTRODUCTION, NEEDS_REAL_MODEL } from "../texts.ts";
import { offered } from "../tool-call.ts";

/** Greetings that are answered in their language; the rest of the answer is English. */
const GREETINGS: readonly (readonly [pattern: RegExp, answer: string])[] = [
  [/^(?:hi|hello|hey|yo|howdy|greetings|good (?:morning|afternoon|evening|day))\b/i, "Hello!"],
  [/^(?:hallo|guten (?:tag|morgen|abend)|servus|grüß gott|moin)(?!\p{L})/iu, "Hallo!"],
  [/^(?:hola|buenos días|buenas (?:tardes|noches))(?!\p{L})/iu, "¡Hola!"],
  [/^(?:bonjour|salut|bonsoir)\b/i, "Bonjour !"],
  [/^(?:ciao|buongiorno|buonasera)\b/i, "Ciao!"],
  [/^(?:olá|oi|bom dia|boa (?:tarde|noite))(?!\p{L})/iu, "Olá!"],
  [/^(?:привет|здравствуйте)(?!\p{L})/iu, "Привет!"],
  [/^(?:你好|您好)/, "你好！"],
  [/^(?:こんにちは|おはよう)/, "こんにちは！"],
];
/** A greeting and nothing else, except for a name and punctuation. */
const MAX_GREETING_CHARS = 40;

const greet: Intent = {
  name: "greet",
  begin({ text, tools }) {
    const known = GREETINGS.find(([pattern]) => pattern.test(text));
    if (!known || text.length > MAX_GREETING_CHARS || /[?`/\\]|\d/.test(text) || text.split(/\s+/).length > 4) return undefined;
    return say(`${known[1]} ${INTRODUCTION}\n\n${tools.size > 0 ? "Ask me to run a command, read or write a file, or" : "Ask me"} \`help\` for all I can do.`);
  },
};

const identify: Intent = {
  name: "identify",
  begin({ plain }) {
    const asked =
      /^(?:who|what)(?: kind of (?:model|thing))? are you\b|^what(?:'s| is) your name\b|^(?:which|what) (?:ai |language )?model (?:is this|are you|do you use|am i (?:using|talking to))|^are you (?:a |an )?(?:real|ai|human|bot|robot|llm|language model|gpt|claude|chatgpt)\b|^introduce yourself|^explain yourself/i;
    return asked.test(plain)
      ? say(`${INTRODUCTION} I am used because no other model is configured or was found.\n\n${NEEDS_REAL_MODEL}\n\n${ADDING_A_KEY}`)
      : undefined;
  },
};

const listAbilities: Intent = {
  name: "abilities",
  begin(turn) {
    const asked = /^(?:help|\/help|help me|what can (?:you|i) (?:do|ask)(?: you)?(?: for)?|what do you do|what are you able to do|commands|usage)[\s?.!]*$/i;
    if (!asked.test(turn.plain)) return undefined;
    return say(`${INTRODUCTION}\n\n${abilitiesText((tool) => offered(turn, tool) !== undefined)}\n\n${NEEDS_REAL_MODEL}\n\n${ADDING_A_KEY}`);
  },
};

const explainKeys: Intent = {
  name: "keys",
  begin({ plain }) {
    const key =
      /\b(?:add|set|use|need|get|give|enter|configure|connect|switch to)\b.{0,60}\b(?:keys?|(?:real|other|another|better|different|proper) (?:ai |language )?models?|openai|anthropic|claude|gpt|gemini|openrouter|ollama|lm studio|vllm)\b/i;
    const limits = /^what (?:can(?:'t|not| not) you do|needs? a (?:real|proper) model)|^what are your limits/i;
    if (limits.test(plain)) return say(`${NEEDS_REAL_MODEL}\n\n${ADDING_A_KEY}`);
    return plain.length <= 200 && key.test(plain) ? say(ADDING_A_KEY) : undefined;
  },
};

const repeat: Intent = {
  name: "repeat",
  begin({ plain }) {
    const words = /^(?:say|repeat(?: after me)?|echo|reply with|answer with)[:\s]+([\s\S]+)$/i.exec(plain)?.[1];
    return words === undefined || unquoted(words).trim() === "" ? undefined : say(unquoted(words));
  },
};

const tellTime: Intent = {
  name: "time",
  begin({ plain, now }) {
    if (!/^(?:what(?:'s| is) (?:the )?(?:time|date|day)\b.*|what (?:time|day|date) is it\b.*|(?:tell me )?the (?:time|date))[?.!]*$/i.test(plain))
      return undefined;
    return say(`It is ${new Date(now).toISOString().slice(0, 16).replace("T", " ")} UTC.`);
  },
};

const thank: Intent = {
  name: "thank",
  begin: ({ text }) => (/^(?:thanks|thank you|thx|ty|danke|merci|gracias)\b[^?]{0,30}$/i.test(text) ? say("You are welcome.") : undefined),
};

const part: Intent = {
  name: "part",
  begin: ({ text }) => (/^(?:bye|goodbye|good night|see you|tschüss|ciao ciao)\b[^?]{0,30}$/i.test(text) ? say("Goodbye!") : undefined),
};

export const talk: readonly Intent[] = [greet, identify, listAbilities, thank, part, repeat, tellTime, explainKeys];
