/**
 * The characters that `\w` and `\d` represent in an XML Schema pattern, as hexadecimal code point ranges.
 *
 * XML Schema defines `\w` as everything but punctuation, separators and "other", so `+`, `$` and `=` belong to it and `_`
 * does not. It defines `\d` as every decimal digit of Unicode. The tables are those of libxml2, whose Unicode version is
 * older than that of any JavaScript engine. A test compares them code point by code point.
 */

/** `\w` */
export const WORD = ranges(`
  24 2b 30-39 3c-3e 41-5a 5e 60-7a 7c 7e a2-aa ac ae-b6 b8-ba bc-be c0-37d 37f-386 388-559 560-588 58b-5bd 5bf
  5c1-5c2 5c4-5f2 5f5-5ff 604-60b 60e-61a 61c-61e 620-669 66e-6d3 6d5-6dc 6de-6ff 70e 710-963 966-96f 971-df3
  df5-e4e e50-e59 e5c-f03 f13-f39 f3e-f84 f86-1049 1050-10fa 10fc-1360 1369-166c 166f-167f 1681-169a 169d-16ea
  16ee-1734 1737-17b3 17b6-17d3 17d7 17db-17ff 180b-180d 180f-1943 1946-1fff 2044 2052 2055-2056 2058-205e 2064-2069
  2070-207c 207f-208c 208f-2328 232b-23b3 23b7-2767 2776-27e5 27ec-2982 2999-29d7 29dc-29fb 29fe-2fff 3004-3007
  3012-3013 3020-302f 3031-303c 303e-309f 30a1-30fa 30fc-d7ff e001-f8fe f900-fd3d fd40-fe2f fe53 fe62 fe64-fe67 fe69
  fe6c-fefe ff00 ff04 ff0b ff10-ff19 ff1c-ff1e ff21-ff3a ff3e ff40-ff5a ff5c ff5e ff66-fff8 fffc-fffd 10000-100ff
  10102-1039e 103a0-1d172 1d17b-e0000 e0002-e001f e0080-effff f0001-ffffc ffffe-fffff 100001-10fffc 10fffe-10ffff
`);

/** `\d` */
export const DIGIT = ranges(`
  30-39 660-669 6f0-6f9 966-96f 9e6-9ef a66-a6f ae6-aef b66-b6f be7-bef c66-c6f ce6-cef d66-d6f e50-e59 ed0-ed9
  f20-f29 1040-1049 1369-1371 17e0-17e9 1810-1819 1946-194f ff10-ff19 104a0-104a9 1d7ce-1d7ff
`);

/** `\s` */
export const BLANK: readonly CharacterRange[] = [
  [0x9, 0xa],
  [0xd, 0xd],
  [0x20, 0x20],
];

export type CharacterRange = readonly [from: number, to: number];

function ranges(text: string): readonly CharacterRange[] {
  return text
    .trim()
    .split(/\s+/)
    .map((range) => {
      const [from, to = from] = range.split('-');
      return [Number.parseInt(from!, 16), Number.parseInt(to!, 16)] as const;
    });
}
