/** The text with each CR LF and each CR as LF, as every XML parser reads a line end. Source: XML 1.0, 2.11. */
export function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
