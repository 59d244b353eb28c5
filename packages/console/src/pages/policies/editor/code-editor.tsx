import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder as placeholderText,
} from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { ExpressionKind } from '../../../generated/policy-language.ts';
import { suggest } from './complete.ts';
import { policySyntax } from './language.ts';
import { type Mark, marksField, setMarks } from './marks.ts';
import { theme } from './theme.ts';

/** A place in the text that something is said about. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

export interface CodeEditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly kind: ExpressionKind;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly isInvalid: boolean;
  readonly hasLines: boolean;
  readonly placeholder: string;
  /** Of exactly `value`; undefined while they are asked for, then the former ones stay and move with the text. */
  readonly said: { readonly findings: readonly Finding[]; readonly marks: readonly Mark[] | undefined } | undefined;
}

/** Suggestions open under the line that is typed, and should not cover what stands under the editor. */
const roomBelow = EditorView.theme({ '.cm-content': { paddingBottom: '44px' } });

/** The text came from outside: from a draft that was discarded, or a suggestion that was taken. */
const fromOutside = Annotation.define<true>();

function completions(kind: ExpressionKind) {
  return (context: CompletionContext): CompletionResult | null => {
    const before = context.state.sliceDoc(0, context.pos);
    const found = suggest(before, kind);
    if (found === undefined || found.suggestions.length === 0) return null;
    if (found.from === context.pos && !context.explicit) return null;
    return {
      from: found.from,
      options: found.suggestions.map(({ label, apply, detail, doc, kind: type }) => ({
        label,
        detail,
        type,
        ...(apply !== undefined && { apply }),
        ...(doc !== undefined && { info: doc }),
        boost: type === 'field' ? -label.split('.').length : -9,
      })),
    };
  };
}

const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

const attributesOf = ({ labelledBy, describedBy, isInvalid }: CodeEditorProps): Extension =>
  EditorView.contentAttributes.of({
    'aria-labelledby': labelledBy,
    'aria-describedby': describedBy,
    spellcheck: 'false',
    autocapitalize: 'off',
    ...(isInvalid && { 'aria-invalid': 'true' }),
  });

/** One expression. Loaded when a policy is opened: it is larger than the rest of the page. */
export default function CodeEditor(props: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const attributes = useRef(new Compartment());
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  // The editor moves focus and selection while it updates, and React may run effects within those events. Then the editor
  // takes no further update: what comes from here waits for it, and looks at the newest text.
  const afterUpdate = useRef((work: (current: EditorView) => void): void => {
    queueMicrotask(() => {
      if (view.current !== undefined) work(view.current);
    });
  });

  useEffect(() => {
    if (host.current === null) return;
    const { value, kind, hasLines, placeholder } = latest.current;
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          EditorView.cspNonce.of(nonce()),
          // Before the theme: of two, the first counts.
          hasLines ? roomBelow : [],
          theme,
          policySyntax,
          history(),
          drawSelection(),
          EditorView.lineWrapping,
          bracketMatching(),
          closeBrackets(),
          autocompletion({ override: [completions(kind)], icons: false, maxRenderedOptions: 60 }),
          marksField,
          placeholderText(placeholder),
          hasLines ? [lineNumbers(), highlightActiveLine(), highlightActiveLineGutter()] : [],
          // Tab takes a suggestion that is open; otherwise it leaves the editor, as it leaves every field.
          keymap.of([{ key: 'Tab', run: acceptCompletion }, ...closeBracketsKeymap, ...completionKeymap]),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          attributes.current.of(attributesOf(latest.current)),
          EditorView.updateListener.of((update) => {
            const isTyped = update.transactions.some((one) => one.docChanged && !one.annotation(fromOutside));
            if (isTyped) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      view.current = undefined;
      made.destroy();
    };
  }, []);

  const { value, said, labelledBy, describedBy, isInvalid } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest value is read once the editor takes it
  useEffect(() => {
    afterUpdate.current((current) => {
      const { value: newest } = latest.current;
      if (current.state.doc.toString() === newest) return;
      current.dispatch({
        changes: { from: 0, to: current.state.doc.length, insert: newest },
        annotations: fromOutside.of(true),
      });
    });
  }, [value]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the attributes are made of these
  useEffect(() => {
    afterUpdate.current((current) =>
      current.dispatch({ effects: attributes.current.reconfigure(attributesOf(latest.current)) }),
    );
  }, [labelledBy, describedBy, isInvalid]);

  useEffect(() => {
    if (said === undefined) return;
    afterUpdate.current((current) => {
      const { length } = current.state.doc;
      if (current.state.doc.toString() !== value) return;
      const diagnostics = said.findings.map(({ start, end, message, severity }): Diagnostic => {
        const to = Math.min(length, Math.max(end, start + 1));
        return { from: Math.max(0, Math.min(start, to === length ? length - 1 : start)), to, message, severity };
      });
      if (said.marks !== undefined) current.dispatch({ effects: setMarks.of(said.marks) });
      current.dispatch(setDiagnostics(current.state, diagnostics));
    });
  }, [said, value]);

  return <div ref={host} />;
}
