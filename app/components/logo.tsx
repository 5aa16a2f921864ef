/** The logo: a key in the form of an L. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <g
        fill="none"
        stroke="var(--pico-primary-inverse)"
        strokeWidth="2.75"
        strokeLinecap="round"
        strokeLinejoin="round"
      >
        <circle cx="13" cy="10.5" r="4.25" />
        <path d="M13 14.75V25.5h8M13 20h5" />
      </g>
    </svg>
  );
}
