import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

/** Reads a line token by token, only to colour it: what is wrong is said by the service. */
const policyLanguage = StreamLanguage.define<object>({
  name: 'policy',
  startState: () => ({}),
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string';
    if (stream.match(/^0x[0-9a-fA-F]+|^[0-9]+/)) return 'number';
    if (stream.match(/^(?:true|false|in)\b/)) return 'bool';
    if (stream.match(/^[A-Za-z_]\w*(?=\s*\()/)) return 'variableName.function';
    if (stream.match(/^[A-Za-z_]\w*/)) return 'variableName';
    if (stream.match(/^(?:&&|\|\||==|!=|<=|>=|[<>!])/)) return 'operator';
    stream.next();
    return null;
  },
  languageData: { closeBrackets: { brackets: ['(', '[', "'"] } },
});

// Red, green and amber belong to outcomes.
const colours = HighlightStyle.define([
  { tag: tags.string, color: 'var(--plot-2)' },
  { tag: tags.number, color: 'var(--plot-3)' },
  { tag: tags.bool, color: 'var(--plot-3)' },
  { tag: tags.function(tags.variableName), color: 'var(--accent)' },
]);

export const policySyntax = [policyLanguage, syntaxHighlighting(colours)];
