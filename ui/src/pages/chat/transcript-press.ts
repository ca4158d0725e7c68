/** How long a finger rests on a message until its actions are shown. */
const HELD_MS = 450;
/** A finger that moves so far scrolls. Pixels. */
const STILL = 10;

/** Shows the actions of a message that is pressed and held on a touch screen, until another one is touched. */
export function showActionsOnPress(list: HTMLElement): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let from = { x: 0, y: 0 };
  const end = (): void => clearTimeout(timer);
  list.addEventListener("pointerdown", (event) => {
    end();
    const item = (event.target as Element).closest(".item");
    if (event.pointerType !== "touch" || !item) return;
    const shown = list.querySelector(".item.acting");
    if (shown && shown !== item) shown.classList.remove("acting");
    from = { x: event.clientX, y: event.clientY };
    timer = setTimeout(() => item.classList.add("acting"), HELD_MS);
  });
  list.addEventListener("pointermove", (event) => {
    if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > STILL) end();
  });
  for (const name of ["pointerup", "pointercancel"] as const) list.addEventListener(name, end);
}
