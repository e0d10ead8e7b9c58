// Where the links and pictures of a page lead on the site: the Markdown names files of the repository.
import path from 'node:path';
import { addressOf, placeOf, sourceOf, translationOf } from '../pages.mjs';

/** Files of the documentation that a running gateway serves. */
const SERVED = { 'docs/openapi.json': '/openapi.json' };

/** The anchor of a heading, as code hosts make it, because the links of the Markdown are written for them. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** A plugin of markdown-it. A link to a file that is not on the site becomes its text, with the path of the file. */
export function resolveLinks(md) {
  md.core.ruler.push('links-of-the-repository', ({ tokens, env, Token }) => {
    const place = path.relative(path.resolve(import.meta.dirname, '../.pages'), env.path);
    const source = sourceOf(place);
    if (source === null) return;
    for (const [at, token] of tokens.entries()) {
      if (tokens[at - 2]?.type === 'list_item_open' && token.content.startsWith('[ ] ')) checkbox(token.children[0]);
      if (token.type === 'html_block') token.content = withPictures(token.content, source, place);
      if (token.children) token.children = resolved(token.children, source, place, Token);
    }
  });
}

function checkbox(text) {
  text.content = text.content.replace('[ ]', '☐');
}

function resolved(children, source, place, Token) {
  const result = [];
  /** The path to write behind the text of a link, at its end. */
  let dropped = null;
  for (const [at, token] of children.entries()) {
    if (token.type === 'html_inline') token.content = withPictures(token.content, source, place);
    if (token.type === 'image') token.attrSet('src', picture(token.attrGet('src'), source, place));
    if (token.type === 'link_open') {
      const target = targetOf(token.attrGet('href'), source);
      if (target.file !== undefined) {
        dropped = { file: target.file, text: textOf(children, at) };
        continue;
      }
      token.attrSet('href', target.href);
      // Outside the site: the browser loads it, not the site's own navigation.
      if (target.served) token.attrSet('target', '_self');
    }
    if (token.type === 'link_close' && dropped !== null) {
      if (!dropped.text.endsWith(path.basename(dropped.file))) {
        const before = new Token('text', '', 0);
        before.content = ' (';
        const code = new Token('code_inline', 'code', 0);
        code.content = dropped.file;
        const after = new Token('text', '', 0);
        after.content = ')';
        result.push(before, code, after);
      }
      dropped = null;
      continue;
    }
    result.push(token);
  }
  return result;
}

/** `{href}` of a link on the site or outside, `{href, served}` of a file of the gateway, `{file}` of one that is not on the site. */
function targetOf(href, source) {
  if (/^[a-z]+:/.test(href) || href.startsWith('#') || href.startsWith('/')) return { href };
  const [target, anchor] = href.split('#');
  const file = path.posix.join(path.posix.dirname(source), target);
  if (SERVED[file] !== undefined) return { href: SERVED[file], served: true };
  const isSpanish = source === 'README.es.md' || /^(docs|site)\/es\//.test(source);
  const translation = isSpanish ? translationOf(file) : null;
  const page = translation ?? file;
  if (sourceOf(placeOf(page)) === null) return { file };
  return { href: addressOf(page) + (anchor === undefined ? '' : `#${anchor}`) };
}

function textOf(children, at) {
  const end = children.findIndex(({ type }, other) => other > at && type === 'link_close');
  return children
    .slice(at + 1, end)
    .map(({ content }) => content)
    .join('');
}

function withPictures(html, source, place) {
  return html.replace(/(<img[^>]*\ssrc=")([^":]+)"/g, (_, start, src) => `${start}${picture(src, source, place)}"`);
}

/** A picture of docs/images, relative to the page. */
function picture(src, source, place) {
  const file = path.posix.join(path.posix.dirname(source), src).replace(/^docs\//, '');
  return `./${path.posix.relative(path.posix.dirname(place), file)}`.replace('./../', '../');
}
