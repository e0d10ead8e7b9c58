interface Answer {
  readonly estado?: string;
  readonly nombre?: string;
  readonly mensaje?: string | string[];
  readonly mensajes?: string | string[];
}

/** The sentences of an answer of the authority, which is stored unchanged; the whole text if it is not the usual JSON. */
export function sentencesOf(answer: string | null): string[] {
  if (answer === null) return [];
  try {
    const { estado, nombre, mensaje, mensajes } = JSON.parse(answer) as Answer;
    const sentences = [estado, nombre, mensaje, mensajes].flat().filter((one) => typeof one === 'string' && one !== '');
    return sentences.length === 0 ? [answer] : (sentences as string[]);
  } catch {
    return [answer];
  }
}
