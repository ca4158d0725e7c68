/** Names of emoji, for platforms whose reactions are named: `👍` is `thumbsup`. */

const NAMES =
  "👍 thumbsup 👎 thumbsdown ❤ heart 🔥 fire 👏 clap 🎉 tada 👀 eyes ✅ white_check_mark ❌ x 🙏 pray 😂 joy 😄 smile 😊 blush 😢 cry 😭 sob 😡 rage 😱 scream 🤔 thinking " +
  "🤯 exploding_head 🥰 smiling_face_with_hearts 😍 heart_eyes 😎 sunglasses 🙌 raised_hands 👌 ok_hand 💯 100 ⚡ zap 🏆 trophy 🤝 handshake 🫡 saluting_face 🤖 robot_face " +
  "🧠 brain 🛠 hammer_and_wrench 💻 computer 🌐 globe_with_meridians ⏳ hourglass_flowing_sand ⚠ warning 🚀 rocket ⭐ star ✨ sparkles 👋 wave 💪 muscle 🤷 shrug 🙈 see_no_evil " +
  "☕ coffee 🍺 beer 📎 paperclip 📝 memo 🔔 bell 🔒 lock ❓ question ❗ exclamation ➕ heavy_plus_sign ☑ ballot_box_with_check 🟢 large_green_circle 🔴 red_circle 🦞 lobster";

const BY_EMOJI: ReadonlyMap<string, string> = (() => {
  const words = NAMES.split(" ");
  return new Map(words.flatMap((word, index): [string, string][] => (index % 2 === 0 ? [[word, words[index + 1] ?? ""]] : [])));
})();

/** The name of an emoji or of `:name:`; undefined where it is not known. */
export function emojiName(emoji: string): string | undefined {
  const bare = emoji.trim().replace(/^:(.+):$/, "$1");
  if (/^[\w+-]{1,64}$/.test(bare)) return bare.toLowerCase();
  return BY_EMOJI.get(bare.replaceAll("\uFE0F", ""));
}
