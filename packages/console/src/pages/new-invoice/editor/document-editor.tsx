import type { EditorView } from '@codemirror/view';
import { type DocumentNode, textOf } from '@ecf/domain';
import { type FormEvent, useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { useSchema } from '../../../data/submission.js';
import { partsOf } from '../draft.js';
import { type Fault, useFaultText } from '../faults.js';
import { Summary } from '../form.js';
import { Refusal, Send } from '../send.js';
import { Unsaved } from '../unsaved.js';
import { useIssuer } from '../use-invoice-form.js';
import { useReview } from '../use-review.js';
import { CodeEditor } from './code-editor.js';
import { partAt } from './places.js';

interface Props {
  start: DocumentNode;
  /** Why this document is edited, and what to mind. */
  note: string;
}

/** A document in JSON: completed and checked while it is typed, then checked by the gateway, then sent. */
export default function DocumentEditor({ start, note }: Props) {
  const words = useTranslations('newInvoice');
  const [first] = useState(() => JSON.stringify(start, null, 2));
  const [text, setText] = useState(first);
  const editor = useRef<EditorView>(null);
  const document = parsed(text);
  const type = textOf(partsOf(document ?? start).idDoc, 'TipoeCF') ?? '';
  const { next } = useIssuer(type);
  const schema = useSchema(type);
  const { faults, submission, review, reset, isUnsaved, sent } = useReview({
    json: JSON.stringify(document),
    checked: document === null || next === null ? text : JSON.stringify(numbered(document, next)),
    isChanged: text !== first,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    review();
  };
  return (
    <form className="invoice-form" onSubmit={submit}>
      <p>{note}</p>
      <section>
        <CodeEditor
          start={first}
          label={words('editor')}
          schema={schema.data ?? null}
          faults={faults}
          view={editor}
          onChange={(changed) => {
            reset();
            setText(changed);
          }}
        />
        <p className="quiet">{words('editorHint')}</p>
      </section>
      <FaultsByLine faults={faults} text={text} editor={editor} />
      <Refusal submission={submission} />
      <p className="actions">
        <button type="submit" className="main" disabled={faults.length > 0 || submission.check.isPending}>
          {submission.check.isPending ? words('reviewing') : words('review')}
        </button>
      </p>
      {document && (
        <Send
          submission={submission}
          summary={<Summary document={document} next={next?.encf ?? null} />}
          onSent={sent}
        />
      )}
      <Unsaved isUnsaved={isUnsaved} />
    </form>
  );
}

interface FaultsProps {
  faults: readonly Fault[];
  text: string;
  editor: { readonly current: EditorView | null };
}

/** The faults with their lines; a click moves the cursor there. */
function FaultsByLine({ faults, editor }: FaultsProps) {
  const words = useTranslations('newInvoice');
  const text = useFaultText();
  if (faults.length === 0) return null;
  const go = (path: string) => {
    const view = editor.current;
    if (view === null) return;
    view.dispatch({ selection: { anchor: partAt(view.state, path).from }, scrollIntoView: true });
    view.focus();
  };
  const lineOf = (path: string) =>
    editor.current === null ? 1 : editor.current.state.doc.lineAt(partAt(editor.current.state, path).from).number;
  return (
    <section className="messages" role="status">
      <h2>{words('faults')}</h2>
      <ul>
        {faults.map((fault) => (
          <li key={`${fault.path} ${fault.rule} ${fault.message}`}>
            <button type="button" className="plain" onClick={() => go(fault.path)}>
              {words('line', { number: lineOf(fault.path) })}
            </button>{' '}
            {text(fault)} <small className="code">{fault.path.replace('ECF.', '')}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

function parsed(text: string): DocumentNode | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as DocumentNode) : null;
  } catch {
    return null;
  }
}

/** The document with the number that the gateway gives next, unless it states one. */
function numbered(document: DocumentNode, { encf, expires }: { encf: string; expires: string }): DocumentNode {
  const { ECF, header, idDoc } = partsOf(document);
  const given = { eNCF: encf, ...(idDoc.TipoeCF === '31' && { FechaVencimientoSecuencia: expires }) };
  return { ECF: { ...ECF, Encabezado: { ...header, IdDoc: { ...given, ...idDoc } } } };
}
