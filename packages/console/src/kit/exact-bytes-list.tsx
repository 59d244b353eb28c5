import { type ExactPiece, sizeOf } from '../api/exact-bytes.ts';
import { formatBytes } from '../lib/amounts.ts';
import { Code } from './code.tsx';
import styles from './exact-bytes-list.module.css';
import { Hatch } from './hatch.tsx';

export interface ExactBytesListProps {
  readonly pieces: readonly ExactPiece[];
  /** What nobody here can read is hatched. */
  readonly isUnreadable: boolean;
}

/** Every piece, whole; long ones scroll. */
export function ExactBytesList({ pieces, isUnreadable }: ExactBytesListProps) {
  if (pieces.length === 0) return <p className={styles.grey}>The bytes of this request are not here.</p>;
  return (
    <ul className={styles.pieces} aria-label="Exact bytes">
      {pieces.map((piece) => (
        <li key={piece.label}>
          <PieceOf piece={piece} isUnreadable={isUnreadable} />
        </li>
      ))}
    </ul>
  );
}

function PieceOf({ piece, isUnreadable }: { readonly piece: ExactPiece; readonly isUnreadable: boolean }) {
  const { label, text, isHex } = piece;
  const title = `${label}: ${formatBytes(sizeOf(piece))}`;
  if (isUnreadable && isHex) return <Hatch title={`${title} that nobody here can read`} bytes={text} />;
  return (
    <>
      <p className={styles.meta}>{title}</p>
      <Code text={text} copy="Copy the bytes" maxHeight={320} {...(!isHex && { language: 'json' as const })} />
    </>
  );
}
