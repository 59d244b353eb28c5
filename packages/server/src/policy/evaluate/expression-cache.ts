import type { ExpressionKind } from '../language/checker.ts';
import { type Compilation, compileExpression, type Expression } from './expression.ts';

/**
 * Compiled expressions by text. Texts repeat over organizations and requests, and compiling costs far more than
 * evaluating.
 */
export interface ExpressionCache {
  compile<K extends ExpressionKind>(kind: K, text: string): Compilation<K>;
}

/** About 100 MB at worst: a node with its closure takes some 200 bytes. */
const NODES_MAX = 500_000;

/** Bounded by the nodes it holds, not by entries: a few hostile texts weigh as much as thousands of ordinary ones. */
export function createExpressionCache(nodesMax: number = NODES_MAX): ExpressionCache {
  // A Map iterates in insertion order; what is used is inserted again, so the first entry is the one used least
  // recently.
  const entries = new Map<string, Expression>();
  let nodes = 0;

  return {
    compile(kind, text) {
      const key = `${kind} ${text}`;
      const known = entries.get(key);
      if (known !== undefined) {
        entries.delete(key);
        entries.set(key, known);
        return { ok: true, expression: known as Expression<typeof kind> };
      }
      const compilation = compileExpression(kind, text);
      if (!compilation.ok || compilation.expression.tree.nodeCount > nodesMax) return compilation;
      entries.set(key, compilation.expression);
      nodes += compilation.expression.tree.nodeCount;
      for (const [oldestKey, oldest] of entries) {
        if (nodes <= nodesMax) break;
        entries.delete(oldestKey);
        nodes -= oldest.tree.nodeCount;
      }
      return compilation;
    },
  };
}
