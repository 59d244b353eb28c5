import type { Node } from './ast.ts';

/** The canonical text of a tree: the same tree again when parsed, and the same text for the same tree. */
export function printTree(node: Node): string {
  switch (node.kind) {
    case 'bool':
    case 'integer':
      return String(node.value);
    case 'string':
      return quote(node.value);
    case 'list':
      return `[${node.items.map(printTree).join(', ')}]`;
    case 'name':
      return node.name;
    case 'call':
      return `${node.name}(${node.args.map(printTree).join(', ')})`;
    case 'field':
      return `${printTarget(node.target)}.${node.name}`;
    case 'method':
      return `${printTarget(node.target)}.${node.name}(${node.args.map(printTree).join(', ')})`;
    case 'quantifier':
      return `${printTarget(node.target)}.${node.quantifier}(${node.variable}, ${printTree(node.body)})`;
    case 'index':
      return `${printTarget(node.target)}[${printTree(node.index)}]`;
    case 'slice':
      return `${printTarget(node.target)}[${printTree(node.from)}..${printTree(node.to)}]`;
    case 'not':
      return `!${printOperand(node.operand)}`;
    case 'compare':
      return `${printOperand(node.left)} ${node.operator} ${printOperand(node.right)}`;
    case 'logic':
      return node.operands.map((operand) => printTerm(operand, node.operator)).join(` ${node.operator} `);
  }
}

/** A string literal with the two escapes that the language has. */
export const quote = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;

const bracketed = (node: Node): string => `(${printTree(node)})`;

const printTarget = (node: Node): string =>
  node.kind === 'not' || node.kind === 'compare' || node.kind === 'logic' ? bracketed(node) : printTree(node);

const printOperand = (node: Node): string =>
  node.kind === 'compare' || node.kind === 'logic' ? bracketed(node) : printTree(node);

/** `&&` binds tighter, so only an and-chain may stand unbracketed, and only inside an or-chain. */
const printTerm = (node: Node, outer: '&&' | '||'): string =>
  node.kind === 'logic' && (outer === '&&' || node.operator === '||') ? bracketed(node) : printTree(node);
