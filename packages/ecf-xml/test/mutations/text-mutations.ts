import type { Random } from './random.js';

/** Changes of the document's text that the tree does not show: prolog, layout, line ends, and random edits of characters. */
export function mutateText(source: string, random: Random): string {
  switch (random.below(8)) {
    case 0:
      return random.pick([
        `<?xml version="1.0" encoding="utf-8"?>${source}`,
        `<?xml version='1.0' standalone='yes' ?>\r\n${source}\r\n`,
        `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- ECF -->\n${source}<?end?>\n`,
        ` <?xml version="1.0"?>${source}`,
        `${source}${source}`,
        `<!DOCTYPE ECF>${source}`,
        `<?xml version="1.0"?><!DOCTYPE ECF [<!ENTITY e "1">]>${source}`,
        `${source}x`,
        `x${source}`,
        `<a>${source}</a>`,
      ]);
    case 1:
      return source.replace(/></g, () => random.pick(['>\r\n  <', '>\n<', '> <', '><', '>\t<']));
    case 2:
      return source.replace(/<(\w+)\/>/g, '<$1 ></$1\n>').replace(/<\/(\w+)>/g, '</$1 >');
    case 3:
      return source.replace(/"/g, "'");
    default:
      return blindlyEdited(source, random);
  }
}

function blindlyEdited(source: string, random: Random): string {
  let text = source;
  for (let edits = 1 + random.below(2); edits > 0; edits--) {
    const at = random.below(text.length);
    const to = Math.min(text.length, at + random.pick([0, 1, 1, 2, 5, 20, 200]));
    switch (random.below(4)) {
      case 0:
        text = text.slice(0, at) + text.slice(to);
        break;
      case 1:
        text = text.slice(0, to) + text.slice(at, to) + text.slice(to);
        break;
      case 2:
        text =
          text.slice(0, at) +
          random.pick(['0', '1', ' ', 'x', '&', '<', '>', '/', '"', '=', ';', '\r\n', '\0', '\ud800']) +
          text.slice(to);
        break;
      default:
        text =
          text.slice(0, at) +
          random.pick(['<!--', '-->', '<![CDATA[', ']]>', '&#32;', '&lt;', '<a/>', '<?p?>']) +
          text.slice(at);
    }
  }
  return text;
}
