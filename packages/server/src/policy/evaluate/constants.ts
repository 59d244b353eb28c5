import type { ListNode, Node } from '../language/ast.ts';
import type { Span } from '../language/errors.ts';
import { type Frame, spendText } from './frame.ts';
import { foldAscii, foldKey, isKey, textOf } from './values.ts';

/** A list of literals, which need not be built again for each evaluation. */
export interface ConstantList extends ReadonlyArray<boolean | bigint | string> {}

export function constantOf(node: Node): ConstantList | undefined {
  if (node.kind !== 'list' || !node.items.every(isLiteral)) return undefined;
  return (node as ListNode).items.map((item) => (item as Extract<Node, { readonly value: unknown }>).value);
}

const isLiteral = (node: Node): boolean => node.kind === 'bool' || node.kind === 'integer' || node.kind === 'string';

/** Looks a value of the list's own static type up, by hash: allow lists of addresses are long and asked often. */
export function membershipOf(
  constant: ConstantList,
  span: Span,
): (value: unknown, list: unknown, frame: Frame) => boolean {
  const exact = new Set<unknown>(constant);
  const folded = new Set<unknown>(constant.map((item) => (typeof item === 'string' ? foldAscii(item) : item)));
  const keys = new Set<unknown>(constant.map((item) => (typeof item === 'string' ? foldKey(item) : item)));
  const longest = constant.reduce(
    (most: number, item) => (typeof item === 'string' ? Math.max(most, item.length) : most),
    0,
  );
  return (value, _list, frame) => {
    if (typeof value !== 'object') return exact.has(value);
    const text = textOf(value) as string;
    if (isKey(value)) {
      spendText(frame, text.length, span);
      return keys.has(foldKey(text));
    }
    if (text.length > longest) return false;
    spendText(frame, text.length, span);
    return folded.has(foldAscii(text));
  };
}
