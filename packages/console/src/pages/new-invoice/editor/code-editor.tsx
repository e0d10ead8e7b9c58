import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type RefObject, useEffect, useRef } from 'react';
import { type Fault, useFaultText } from '../faults.js';
import { completeFrom } from './completion.js';
import { partAt } from './places.js';
import type { Schema } from './schema.js';

interface CodeEditorProps {
  /** The text at the beginning; later ones are ignored. */
  start: string;
  label: string;
  schema: Schema | null;
  faults: readonly Fault[];
  onChange: (text: string) => void;
  /** Gets the editor, to move to a fault. */
  view: RefObject<EditorView | null>;
}

/**
 * An editor of JSON with completion, which marks faults at their places. It stands in a shadow root, where its styles are
 * constructed style sheets: the policy of the pages refuses `style` elements.
 */
export function CodeEditor({ start, label, schema, faults, onChange, view }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef({ schema, onChange });
  latest.current = { schema, onChange };
  const text = useFaultText();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once
  useEffect(() => {
    const root = host.current?.shadowRoot ?? host.current?.attachShadow({ mode: 'open' });
    if (!root) return;
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: start,
        extensions: [
          BEHAVIOUR,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          autocompletion({ override: [completeFrom(() => latest.current.schema)] }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const marks = faults.map((fault) => ({
      ...partAt(editor.state, fault.path),
      severity: 'error' as const,
      message: text(fault),
    }));
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [faults, text, view]);
  return <div ref={host} className="code-editor" />;
}

const BEHAVIOUR = [
  json(),
  lineNumbers(),
  history(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  EditorView.lineWrapping,
  keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.propertyName, color: 'var(--accent)' },
      { tag: [tags.string, tags.number], color: 'var(--ink)' },
      { tag: tags.punctuation, color: 'var(--quiet)' },
    ]),
  ),
  EditorView.theme({
    '&': { color: 'var(--ink)', backgroundColor: 'var(--paper)', fontSize: '0.88rem', maxHeight: '70vh' },
    '.cm-scroller': { fontFamily: 'ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace', lineHeight: '1.5' },
    '.cm-gutters': { color: 'var(--quiet)', backgroundColor: 'var(--side)', border: '0' },
    '.cm-content': { caretColor: 'var(--ink)' },
    '&.cm-focused': { outline: '2px solid var(--accent)' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '.cm-tooltip': { color: 'var(--ink)', backgroundColor: 'var(--paper)', border: '1px solid var(--line)' },
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
      color: 'var(--on-accent)',
      backgroundColor: 'var(--accent)',
    },
    // In place of the package's pictures, which the policy of the pages refuses.
    '.cm-lintRange-error, .cm-lintRange-active': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--bad)',
    },
    '.cm-completionIcon': { display: 'none' },
  }),
];
