// Reads a language bank (generator/<lang>.txt) and renders its templates.
import { readFileSync } from "node:fs";

export function random(seed) {
  let a = seed >>> 0;
  const next = () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const r = {
    next,
    int: (lo, hi) => lo + Math.floor(next() * (hi - lo + 1)),
    chance: (p) => next() < p,
    pick: (list) => list[Math.floor(next() * list.length)],
    shuffle: (list) => {
      const out = [...list];
      for (let i = out.length - 1; i > 0; i--) {
        const j = Math.floor(next() * (i + 1));
        [out[i], out[j]] = [out[j], out[i]];
      }
      return out;
    },
  };
  return r;
}

export function loadBank(file) {
  const bank = { lists: {}, syn: {}, sections: {} };
  let section = null;
  let schema = null;
  for (const raw of readFileSync(file, "utf8").split("\n")) {
    const line = raw.trim();
    if (!line) continue;
    if (line.startsWith("=") || line.startsWith("~")) {
      const cut = line.indexOf(":");
      (line[0] === "=" ? bank.lists : bank.syn)[line.slice(1, cut)] = line
        .slice(cut + 1)
        .split("|")
        .map((s) => s.trim());
    } else if (line.startsWith("@")) {
      section = bank.sections[line.slice(1)] = [];
    } else if (line.startsWith("# ")) {
      const [id, kind] = line.slice(2).split(" ");
      schema = { id, kind };
      section.push(schema);
    } else {
      const key = line[0];
      const rest = line.slice(2).trim();
      // v, o, and the fillers' a and b are lists; the others are templates (which may hold [a|b])
      const parts =
        "vo".includes(key) || (schema === section.at(-1) && bank.sections.filler === section && "ab".includes(key)) ? rest.split("|") : rest.split(" ;; ");
      schema[key] = [...(schema[key] ?? []), ...parts.map((s) => s.trim())];
    }
  }
  return bank;
}

// ctx: slot values; used: synonyms taken by the message, which the question then tends to avoid
export function render(bank, r, template, ctx, used = null, avoid = null) {
  let text = template;
  for (let i = 0; i < 4 && /\[[^[\]]*\|[^[\]]*\]/.test(text); i++) {
    text = text.replace(/\[([^[\]]*\|[^[\]]*)\]/g, (_, body) => r.pick(body.split("|")));
  }
  text = text.replace(/<(\w+)>/g, (whole, key) => {
    const words = bank.syn[key];
    if (!words) return whole;
    let choice = words;
    if (avoid?.[key] && r.chance(0.8)) choice = words.filter((w) => w !== avoid[key]);
    const word = r.pick(choice);
    if (used) used[key] = word;
    return word;
  });
  for (let i = 0; i < 3; i++) {
    text = text.replace(/\{(\w+)\}/g, (whole, key) => {
      if (ctx[key] !== undefined) return ctx[key];
      if (bank.lists[key]) return r.pick(bank.lists[key]);
      return whole;
    });
  }
  return text.replace(/\s+/g, " ").trim();
}

const typo = (r, word) => {
  if (word.length < 5 || !/^\p{L}+$/u.test(word)) return word;
  const i = r.int(1, word.length - 3);
  return r.chance(0.5) ? word.slice(0, i) + word[i + 1] + word[i] + word.slice(i + 2) : word.slice(0, i) + word.slice(i + 1);
};

export const upper = (s) => s.replace(/^(\W*)(\p{L})/u, (_, a, b) => a + b.toUpperCase());

// keep: a string that must stay as written (the value)
export function styled(r, style, text, keep = "") {
  let out = style.lower ? text : upper(text);
  if (style.lower && !keep) out = out.toLowerCase();
  if (style.bare) out = out.replace(/[.!]$/, "");
  if (style.typos) {
    out = out
      .split(" ")
      .map((w) => (keep && keep.includes(w) ? w : r.chance(style.typos) ? typo(r, w) : w))
      .join(" ");
  }
  if (style.emoji && r.chance(style.emoji)) out += " " + r.pick(["🙂", "😅", "🙈", "❤️", "🤷", ":)", "😂", ":-/"]);
  return out;
}
