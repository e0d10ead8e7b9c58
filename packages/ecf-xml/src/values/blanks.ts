/** Without the XML blanks (space, tab, LF, CR) around it. No other kind of space counts. */
export function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return from === 0 && to === text.length ? text : text.slice(from, to);
}

/** Whether the text is nothing but XML blanks. */
export function isBlankText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (!isBlank(text.charCodeAt(i))) return false;
  }
  return true;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d;
}
