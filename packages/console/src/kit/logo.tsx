/** The mark: a ring of people who agree, around a lock. */
export function Logo({ size = 28 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <g fill="none" stroke="currentColor" strokeWidth="3.4">
        <path d="M18 3.2A13 13 0 0 1 28.4 12.2" />
        <path d="M29 16a13 13 0 0 1-9 12.3" />
        <path d="M16 29A13 13 0 0 1 4.1 21.3" />
        <path d="M3 16A13 13 0 0 1 14 3.2" />
      </g>
      <path fill="currentColor" d="M16 10a4 4 0 0 1 2 7.4v3.9a1 1 0 0 1-1 1h-2a1 1 0 0 1-1-1v-3.9A4 4 0 0 1 16 10Z" />
    </svg>
  );
}
