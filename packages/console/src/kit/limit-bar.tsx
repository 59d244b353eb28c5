import type { ReactNode } from 'react';
import styles from './limit-bar.module.css';

export interface LimitBarProps {
  /** "Limit “Payouts per day”". */
  readonly label: ReactNode;
  /** The numbers in words: "62,500 of 100,000 USDC". */
  readonly text: string;
  /** Parts of the limit from 0 to 1. */
  readonly used: number;
  readonly request?: number;
  /** Under the bar: "used 50,000", "this request 12,500". */
  readonly usedText?: string;
  readonly requestText?: string;
}

/** Used in grey, this request in accent, numbers in words above. */
export function LimitBar({ label, text, used, request = 0, usedText, requestText }: LimitBarProps) {
  const usedPart = Math.max(0, Math.min(1, used));
  const requestPart = Math.max(0, Math.min(1 - usedPart, request));
  return (
    <div className={styles.limit}>
      <div className={styles.words}>
        <span>{label}</span>
        <span className={styles.text}>{text}</span>
      </div>
      <div className={styles.bar} aria-hidden="true">
        <span className={styles.used} style={{ width: `${usedPart * 100}%` }} />
        <span className={styles.request} style={{ width: `${requestPart * 100}%` }} />
      </div>
      {(usedText !== undefined || requestText !== undefined) && (
        <div className={styles.legend}>
          {usedText !== undefined && <span className={styles.usedKey}>{usedText}</span>}
          {requestText !== undefined && <span className={styles.requestKey}>{requestText}</span>}
        </div>
      )}
    </div>
  );
}
