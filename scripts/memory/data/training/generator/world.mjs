// One owner (a person with an assistant): sessions over two years, filled with episodes.
import { render, styled, upper } from "./bank.mjs";

const DAY = 86400000;

export function makeWorld({ bank, lang, name, r, sessions: count, end, days, taken, quota, zone }) {
  const L = bank.lists;
  const S = bank.sections;
  const questions = [];
  const sessions = [];
  const start = end - days * DAY;
  const cast = [
    ...r
      .shuffle(L.namesf)
      .slice(0, 15)
      .map((n) => ({ n, g: "f" })),
    ...r
      .shuffle(L.namesm)
      .slice(0, 15)
      .map((n) => ({ n, g: "m" })),
  ].map((p) => ({ ...p, rel: r.pick(L["rel" + p.g]) }));
  const circle = r.shuffle(cast).slice(0, 5);
  const style = () => ({
    lower: r.chance(0.3),
    bare: r.chance(0.4),
    typos: r.chance(0.3) ? 0.05 : 0,
    emoji: r.chance(0.3) ? 0.2 : 0,
  });
  const ownStyle = style();
  for (let i = 0; i < count; i++) {
    const at = start + ((i + r.next() * 0.8) / count) * days * DAY;
    sessions.push({ id: `${name}-${String(i + 1).padStart(4, "0")}`, at, group: r.chance(0.17), parts: [] });
  }
  const plain = sessions.filter((s) => !s.group);
  const groups = sessions.filter((s) => s.group);
  const now = () => new Date(end + r.int(1, 9) * DAY + r.int(0, 80000) * 1000).toISOString();
  const question = (query, kind, extra = {}) => {
    const q = { query: r.chance(0.6) ? upper(query) : query, now: now(), expect: [], kind, ...extra };
    if (r.chance(0.15)) q.query = q.query.replace(/\?$/, "");
    questions.push(q);
    return q;
  };
  const free = (key) => {
    const full = `${lang}|${key}`;
    if (taken.has(full)) return false;
    taken.add(full);
    return true;
  };
  const person = (p) => {
    const [s, his, him] = L["pron" + p.g];
    return { p: p.n, P: r.chance(0.4) ? `${p.rel} ${p.n}` : p.n, he: s, his, him };
  };
  const user = (text, q = [], keep = "") => ({ role: "user", text: styled(r, ownStyle, text, keep), q });
  const ai = (text, q = []) => ({ role: "assistant", text: upper(text), q });
  const ask = (list, ctx, used) => render(bank, r, r.pick(list), ctx, null, used);
  const say = (list, ctx, used) => render(bank, r, r.pick(list), ctx, used);
  const wrap = (text, long = 0.15) => {
    let out = text;
    const lead = r.pick(L.lead);
    if (lead) out = `${lead} ${out}`;
    if (r.chance(long)) {
      const pads = r.shuffle(L.pad).slice(0, r.int(1, 3));
      out = r.chance(0.5) ? `${pads.join(" ")} ${out}` : `${out} ${pads.join(" ")}`;
    } else {
      const tail = r.pick(L.tail);
      if (tail) out = `${/[.!?…]$/.test(out) || r.chance(0.3) ? out : out + "."} ${tail}`;
    }
    return out;
  };
  const ack = (ctx) => ai(say(ctx?.p && r.chance(0.12) ? L.acks : L.ack, ctx ?? {}));

  // a fact about a person or about the owner: five ways to come up in a conversation
  function fact(schema, ctx, asked) {
    const used = {};
    const isPerson = Boolean(ctx.p);
    const v = r.pick(schema.v);
    const c = { ...ctx, v };
    const q = [];
    let mode = r.next();
    const canFollow = schema.f && schema.r;
    const out = [];
    const named = { ...c, S: c.P, s: c.P };
    const pronoun = { ...c, S: c.he, s: c.he };
    if (canFollow && mode < 0.11) {
      out.push(user(isPerson ? say(L.intro, c) : `${say(L.lead, {})} ${c.o ?? ""} ${r.pick(L.pad)}`.trim()));
      out.push(ai(`${r.chance(0.5) ? r.pick(L.ack) + " " : ""}${upper(say(schema.f, c))}`));
      out.push(user(say(schema.r, c), q, v));
      if (asked) asked = "followup";
    } else if (isPerson && mode < 0.3) {
      out.push(user(say(L.intro, c)));
      out.push(ai(say(L.introa, c)));
      out.push(user(wrap(say(schema.s, pronoun, used), 0.2), q, v));
    } else {
      out.push(user(wrap(say(schema.s, named, used)), q, v));
    }
    if (r.chance(0.85)) out.push(ack(isPerson ? c : null));
    if (asked) {
      const yes = schema.y && r.chance(0.35);
      const query = yes ? ask(schema.y, c, used) : ask(schema.q, c, used);
      q.push(question(query, asked === "followup" ? "followup" : yes ? "yesno" : schema.kind));
    }
    return out;
  }
  // a fact about a person that changes later
  function personChain(p, schema) {
    const [one, two] = r.shuffle(schema.v);
    const where = r
      .shuffle(plain)
      .slice(0, 2)
      .sort((a, b) => a.at - b.at);
    const c = person(p);
    const hold = [[], []];
    where[0].parts.push(() => [user(wrap(say(schema.s, { ...c, S: c.P, s: c.P, v: one })), hold[0], one), ack(c)]);
    where[1].parts.push(() => [user(wrap(say(schema.n, { ...c, v: two })), hold[1], two), ack(c)]);
    if (r.chance(0.65)) hold[1].push(question(ask(schema.c, c), "update-now"));
    else hold[0].push(question(ask(schema.b, c), "update-before"));
  }
  const place = (pool, episode, weight = 1) => {
    const session = r.pick(pool);
    session.parts.push(episode);
    session.weight = (session.weight ?? 0) + weight;
  };

  // people and owner facts (three of four are never asked: they are the distractors)
  const people = r.shuffle(cast.flatMap((p) => S.people.map((schema) => ({ p, schema }))));
  let asked = 0;
  let made = 0;
  for (const { p, schema } of people) {
    if (made >= quota.people * 2.2) break;
    if (!free(`${schema.id}|${p.n}`)) continue;
    made++;
    const want = asked < quota.people && r.chance(0.55);
    if (want) asked++;
    if (want && schema.n && r.chance(0.4)) {
      personChain(p, schema);
      continue;
    }
    if (groups.length && schema.i && r.chance(0.15)) {
      place(groups, () => selfFact(p, schema, want));
    } else {
      const ctx = person(p);
      place(plain, () => fact(schema, ctx, want));
    }
  }
  asked = 0;
  made = 0;
  const own = r.shuffle(S.me.flatMap((schema) => (schema.o ?? [undefined]).map((o) => ({ o, schema }))));
  for (const { o, schema } of own) {
    if (made >= quota.me * 1.7) break;
    if (!free(`${schema.id}|${o ?? ""}`)) continue;
    made++;
    const want = asked < quota.me && r.chance(0.65);
    if (want) asked++;
    place(plain, () => fact(schema, o === undefined ? {} : { o }, want));
  }

  // in a group a person speaks for himself: the name is only the speaker
  function selfFact(p, schema, want) {
    const used = {};
    const v = r.pick(schema.v);
    const q = [];
    const out = [];
    const someone = r.pick(circle.filter((x) => x !== p));
    if (r.chance(0.6)) out.push({ role: "user", speaker: someone.n, text: r.pick(L.gchat), q: [] });
    out.push({ role: "user", speaker: p.n, text: styled(r, style(), say(schema.i, { v }, used), v), q });
    out.push({ role: "user", speaker: someone.n, text: r.pick(L.gchat), q: [] });
    if (want) q.push(question(ask(schema.q, { ...person(p), v }, used), "group"));
    return out;
  }

  // group topics: everybody has a say
  const topics = r.shuffle((S.groups ?? []).flatMap((schema) => schema.o.map((o) => ({ schema, o }))));
  let budget = quota.group;
  if (groups.length) {
    for (const { schema, o } of topics) {
      if (budget <= 0) break;
      if (!free(`${schema.id}|${o}`)) continue;
      const speakers = r.shuffle(circle).slice(0, r.int(3, 5));
      const values = r.shuffle(schema.v);
      const n = Math.min(r.int(1, 2), budget);
      budget -= n;
      place(
        groups,
        () => {
          const out = [{ role: "user", speaker: r.pick(circle).n, text: styled(r, style(), say(schema.u, { o })), q: [] }];
          speakers.forEach((p, i) => {
            const q = [];
            if (r.chance(0.35)) out.push({ role: "user", speaker: r.pick(circle).n, text: r.pick(L.gchat), q: [] });
            if (r.chance(0.1)) out.push({ role: "assistant", text: r.pick(L.gai), q: [] });
            out.push({
              role: "user",
              speaker: p.n,
              text: styled(r, style(), say([r.pick(L.gfor) + " " + r.pick(schema.s)], { o, v: values[i] }), values[i]),
              q,
            });
            if (i < n) {
              const who = schema.w && r.chance(0.45);
              const c = { ...person(p), o, v: values[i] };
              q.push(question(ask(who ? schema.w : schema.q, c), who ? "who" : "group"));
            }
          });
          if (r.chance(0.5)) out.push({ role: "assistant", text: r.pick(L.gai), q: [] });
          return out;
        },
        2,
      );
    }
  }

  // recommendations: what the assistant said against what the user chose
  budget = quota.recs;
  for (const { schema, o } of r.shuffle((S.recs ?? []).flatMap((schema) => schema.o.map((o) => ({ schema, o }))))) {
    if (budget <= 0) break;
    if (!free(`${schema.id}|${o}`)) continue;
    const [v, x] = r.shuffle(schema.v);
    const used = {};
    const askAi = r.chance(0.8);
    const chooses = r.chance(0.6);
    budget -= (askAi ? 1 : 0) + (chooses ? 0.6 : 0);
    const qa = [];
    const qu = [];
    place(plain, () => {
      const out = [user(say(schema.s, { o }, used)), ai(`${say(L.recpre, { o })} ${say(schema.a, { o, v, x })}`, qa)];
      if (r.chance(0.4)) out.push(user(r.pick(L.thanks)), ai(r.pick(L.welcome)));
      if (chooses) {
        out.push(user(wrap(say([r.pick(L.gfor) + " " + r.pick(schema.c)], { o, v, x }), 0.1), qu, x));
        out.push(ack());
        if (r.chance(0.7)) qu.push(question(ask(schema.p, { o }, used), "choice"));
      }
      if (askAi) qa.push(question(ask(schema.q, { o }, used), "assistant"));
      return out;
    });
  }

  // updates over time
  budget = quota.chains;
  for (const schema of r.shuffle(S.chains ?? [])) {
    if (budget <= 0) break;
    if (!free(schema.id)) continue;
    const n = Math.min(schema.o.length, r.int(2, 4), plain.length);
    const values = r.shuffle(schema.o).slice(0, n);
    const ordered = schema.id.match(/weight|rent|saving/) ? schema.o.slice(0, n) : values;
    const where = r
      .shuffle(plain)
      .slice(0, n)
      .sort((a, b) => a.at - b.at);
    const holders = where.map(() => []);
    where.forEach((session, i) =>
      session.parts.push(() => {
        const out = [user(wrap(say(i === 0 ? schema.s : schema.n, { o: ordered[i] }), 0.2), holders[i], ordered[i])];
        if (r.chance(0.8)) out.push(ack());
        return out;
      }),
    );
    holders.at(-1).push(question(ask(schema.q, {}), "update-now"));
    budget--;
    if (schema.b && r.chance(0.75)) {
      const q = question(ask(schema.b, {}), "update-before");
      const first = /at first|begin|origin|anfang|principio|début|inizio|início/.test(q.query.toLowerCase());
      (first ? holders.slice(0, 1) : holders.slice(0, -1)).forEach((h) => h.push(q));
      budget--;
    }
    if (schema.h && r.chance(0.5)) {
      const q = question(ask(schema.h, {}), "list");
      holders.forEach((h) => h.push(q));
      budget--;
    }
  }

  // repeated events: only the time tells them apart
  const year = 365 * DAY;
  const types = [];
  for (const schema of r.shuffle(S.events ?? [])) {
    if (types.length < quota.eventTypes && free(`event|${schema.id}`)) types.push(schema);
  }
  const describe = (at, monthsOfType) => {
    const d = new Date(at);
    const m = L.months[d.getUTCMonth()];
    const y = d.getUTCFullYear();
    const age = (end - at) / DAY;
    const options = [];
    if (age < 330) options.push(render(bank, r, r.pick(L.inmonth), { m }));
    else options.push(render(bank, r, r.pick(L.inmonthyear), { m, y }));
    if (age > 12 && age < 60) {
      const n = Math.round((age + 4) / 7);
      const text = render(bank, r, r.pick(L.weeksago), { n: L.numbers[n - 1] ?? n });
      options.push(text, text);
    }
    const thisMonth = new Date(end);
    const previous = (thisMonth.getUTCMonth() + 11) % 12;
    if (d.getUTCMonth() === previous && age < 62) options.push(r.pick(L.lastmonth));
    return r.pick(options);
  };
  for (const schema of types) {
    const values = r.shuffle(schema.v);
    const seen = new Set();
    const chosen = [];
    for (const session of r.shuffle(plain)) {
      const d = new Date(session.at);
      const key = `${d.getUTCFullYear()}-${d.getUTCMonth()}`;
      if (d.getUTCDate() < 4 || d.getUTCDate() > 28 || seen.has(key)) continue;
      if (chosen.some((s) => Math.abs(s.at - session.at) < 20 * DAY)) continue;
      seen.add(key);
      chosen.push(session);
      if (chosen.length >= values.length) break;
    }
    const wanted = new Set(r.shuffle(chosen).slice(0, quota.perEvent));
    chosen.forEach((session, i) => {
      const q = [];
      session.parts.push(() => {
        const out = [user(wrap(say(schema.s, { v: values[i] }), 0.3), q, values[i])];
        if (r.chance(0.8)) out.push(ack());
        if (wanted.has(session)) q.push(question(ask(schema.q, { t: describe(session.at) }), "time"));
        return out;
      });
    });
    // a season with a single instance, "last spring"
    for (const [i, season] of L.seasons.entries()) {
      const months = [
        [11, 0, 1],
        [2, 3, 4],
        [5, 6, 7],
        [8, 9, 10],
      ][i];
      if (months.includes(new Date(end).getUTCMonth())) continue;
      const inside = chosen.filter((s) => months.includes(new Date(s.at).getUTCMonth()) && s.at > end - 0.95 * year && s.at < end - 40 * DAY);
      if (inside.length === 1 && !wanted.has(inside[0])) {
        inside[0].parts.push(() => []);
        const q = question(ask(schema.q, { t: season }), "time");
        inside[0].late = [...(inside[0].late ?? []), { q, value: values[chosen.indexOf(inside[0])] }];
      }
    }
    // next to an anchor: "the week before my exam"
    const session = r.pick(chosen);
    const anchor = r.pick(S.anchors?.[0]?.v ?? [""]);
    if (session && anchor && free(`anchor|${anchor}`)) {
      const d = session.at + r.int(3, 6) * DAY;
      const extra = { id: null, at: d, group: false, parts: [], anchor: true };
      extra.parts.push(() => [user(say(S.anchors[0].s, { v: anchor })), ack()]);
      sessions.push(extra);
      const e = anchor.replace(/^my /, "my ");
      const q = question(ask(schema.q, { t: render(bank, r, r.pick(L.weekbefore), { e }) }), "time");
      session.late = [...(session.late ?? []), { q, value: values[chosen.indexOf(session)] }];
    }
  }

  // exact strings
  const code = (pattern) => pattern.replace(/[A9]/g, (c) => (c === "A" ? r.pick("BCDFGHJKLMNPRSTVWXZ".split("")) : String(r.int(1, 9))));
  budget = quota.codes;
  for (const { schema, o } of r.shuffle((S.codes ?? []).flatMap((schema) => schema.o.map((o) => ({ schema, o }))))) {
    if (budget <= 0) break;
    if (!free(`${schema.id}|${o}`)) continue;
    const v = code(schema.g[0]);
    const q = [];
    const want = r.chance(0.75);
    if (want) budget--;
    place(plain, () => {
      const used = {};
      const out = [user(wrap(say(schema.s, { o, v }, used), 0.15), q, v), ack()];
      const reverse = schema.z && r.chance(0.35);
      if (want) q.push(question(ask(reverse ? schema.z : schema.q, { o, v }, used), "exact"));
      return out;
    });
  }

  // first mention
  budget = quota.firsts;
  for (const { schema, o } of r.shuffle((S.firsts ?? []).flatMap((schema) => schema.o.map((o) => ({ schema, o }))))) {
    if (budget <= 0) break;
    if (!free(`${schema.id}|${o}`)) continue;
    budget--;
    const where = r
      .shuffle(plain)
      .slice(0, r.int(3, 5))
      .sort((a, b) => a.at - b.at);
    const later = r.shuffle(schema.l);
    const q = question(ask(schema.q, { o }), "first");
    where.forEach((session, i) =>
      session.parts.push(() => [user(wrap(render(bank, r, i === 0 ? r.pick(schema.s) : later[i % later.length], { o }), 0.2), i === 0 ? [q] : []), ack()]),
    );
  }

  // lists over several sessions
  budget = quota.lists;
  for (const { schema, o } of r.shuffle((S.lists ?? []).flatMap((schema) => schema.o.map((o) => ({ schema, o }))))) {
    if (budget <= 0) break;
    if (!free(`${schema.id}|${o}`)) continue;
    budget--;
    const values = r.shuffle(schema.v);
    const where = r.shuffle(plain).slice(0, r.int(2, 4));
    const q = question(ask(schema.q, { o }), "list");
    where.forEach((session, i) => session.parts.push(() => [user(wrap(say(schema.s, { o, v: values[i] }), 0.2), [q], values[i]), ack()]));
  }

  // appointments with a date in the text
  budget = quota.appts;
  for (const v of r.shuffle(S.appts?.[0]?.v ?? [])) {
    if (budget <= 0) break;
    const schema = S.appts[0];
    if (!free(`appt|${v}`)) continue;
    const session = r.pick(plain);
    const day = new Date(session.at + r.int(5, 40) * DAY);
    if (!free(`date|${day.getUTCDate()}-${day.getUTCMonth()}`)) continue;
    budget--;
    const c = { v, d: day.getUTCDate(), m: L.months[day.getUTCMonth()], y: day.getUTCFullYear(), hour: `${r.int(8, 18)}:${r.pick(["00", "15", "30", "45"])}` };
    const ordinal = (text) =>
      text.replace(/\b(\d+)th\b/, (_, n) => n + (/(^|[^1])1$/.test(n) ? "st" : /(^|[^1])2$/.test(n) ? "nd" : /(^|[^1])3$/.test(n) ? "rd" : "th"));
    const q = [question(ordinal(ask(r.chance(0.5) ? schema.z : schema.q, c)), "date")];
    session.parts.push(() => [user(wrap(ordinal(say(schema.s, c)), 0.1), q, v), ack()]);
  }

  // small talk with the assistant
  function filler() {
    const schema = r.pick(S.filler);
    const c = { o: r.pick(schema.o) };
    const answer = () =>
      ai(
        r
          .shuffle(schema.a)
          .slice(0, r.int(2, 5))
          .map((t) => upper(render(bank, r, t, c)))
          .join(" "),
      );
    const out = [user(say(schema.u, c)), answer()];
    const turns = r.int(0, 2);
    for (const b of r.shuffle(schema.b).slice(0, turns)) out.push(user(b), answer());
    if (r.chance(0.3)) out.push(user(r.pick(L.thanks)), ai(r.pick(L.welcome)));
    return out;
  }
  const chatter = () => Array.from({ length: r.int(2, 5) }, () => ({ role: "user", speaker: r.pick(circle).n, text: r.pick(L.gchat), q: [] }));

  // write the sessions
  sessions.sort((a, b) => a.at - b.at);
  const conversations = [];
  sessions.forEach((session, index) => {
    const id = `${name}-${String(index + 1).padStart(4, "0")}`;
    const messages = [];
    for (const part of r.shuffle(session.parts)) {
      messages.push(...part());
      if (!session.anchor && r.chance(0.3)) messages.push(...(session.group ? chatter() : filler()));
    }
    const least = session.anchor ? 4 : r.int(6, 14);
    while (messages.length < least) messages.splice(0, 0, ...(session.group ? chatter() : filler()));
    let at = session.at;
    const rows = messages.map((m, i) => {
      at += m.role === "assistant" ? r.int(3, 25) * 1000 : r.int(20, 400) * 1000;
      const row = { id: `m${i + 1}`, role: m.role };
      if (m.speaker) row.speaker = m.speaker;
      row.at = new Date(Math.floor(at / 1000) * 1000 + zone * 3600000).toISOString().replace(".000Z", `+0${zone}:00`);
      row.text = m.text;
      for (const q of m.q ?? []) q.expect.push({ sessionId: id, entryId: row.id });
      for (const late of session.late ?? []) {
        if (m.role === "user" && m.text.includes(late.value)) late.q.expect.push({ sessionId: id, entryId: row.id });
      }
      return row;
    });
    conversations.push({ sessionId: id, messages: rows });
  });
  return { conversations, questions: questions.filter((q) => q.expect.length) };
}
