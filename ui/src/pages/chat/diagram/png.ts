import { t } from "../../../words/words.ts";

/** Points of a PNG at most: more than a canvas holds everywhere. */
const MOST_POINTS = 16_000_000;
const SHARP = 2;

/** A picture as PNG, as sharp as screens show it. Nothing leaves the browser. */
export async function pngOf(file: Blob, width: number, height: number): Promise<Blob> {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(SHARP, Math.sqrt(MOST_POINTS / (width * height)), 8192 / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.floor(width * scale));
    canvas.height = Math.max(1, Math.floor(height * scale));
    const context = canvas.getContext("2d");
    if (!context) throw new Error(t("This browser cannot draw pictures."));
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(t("The picture could not be created.")))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
