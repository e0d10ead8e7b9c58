import type { DocumentStore, Observer } from './ports.js';
import type { NumberHolder } from './received-document.js';

export interface AnsweredDocumentsPorts {
  readonly documents: Pick<DocumentStore, 'noteAnswered'>;
  readonly observer: Observer;
}

/**
 * Notes which acknowledgements left completely. Identical bytes that arrive again get the first acknowledgement until then,
 * because the sender cannot have it; afterwards they are a duplicate. A note that is late or lost is harmless: the sender gets
 * the same acknowledgement once more.
 */
export function createAnsweredDocuments({ documents, observer }: AnsweredDocumentsPorts) {
  /** When answers left here that are not noted yet, by document. */
  const left = new Map<number, Date>();
  let noting: Promise<void> | null = null;

  /** One statement notes all answers that left while the one before ran. */
  async function noteAll(): Promise<void> {
    while (left.size > 0) {
      const notes = [...left];
      await documents.noteAnswered(notes).catch((error) => observer.failed('noting that answers left', error));
      for (const [id] of notes) left.delete(id);
    }
    noting = null;
  }

  return {
    /** An answer with the acknowledgement of this document left completely. */
    answered(id: number, at: Date): void {
      if (!left.has(id)) left.set(id, at);
      noting ??= noteAll();
    },
    /** Whether an answer left before a request arrived, so that its sender can have the acknowledgement. */
    leftBefore({ id, answeredAt }: NumberHolder, arrivedAt: Date): boolean {
      const at = answeredAt ?? left.get(id);
      return at !== undefined && at <= arrivedAt;
    },
    /** Resolves when all answers that left are noted. */
    settled: async (): Promise<void> => noting ?? undefined,
  };
}

export type AnsweredDocuments = ReturnType<typeof createAnsweredDocuments>;
