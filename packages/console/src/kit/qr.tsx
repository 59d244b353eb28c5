import { useMemo } from 'react';
import { encode } from 'uqr';
import styles from './qr.module.css';

export interface QrProps {
  readonly text: string;
  /** "QR code of the address 0x51f0…". */
  readonly label: string;
  readonly size?: number;
}

/** Always dark on light, also in the dark: cameras expect it. */
export function Qr({ text, label, size = 200 }: QrProps) {
  const { path, modules } = useMemo(() => {
    const { data, size: side } = encode(text, { border: 2 });
    const cells = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
    return { path: cells.join(''), modules: side };
  }, [text]);
  return (
    <svg
      className={styles.qr}
      width={size}
      height={size}
      viewBox={`0 0 ${modules} ${modules}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <path d={path} />
    </svg>
  );
}
