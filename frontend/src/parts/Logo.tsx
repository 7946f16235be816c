/** Three gates: one open, one half, one shut. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect x="2" y="2" width="28" height="28" rx="7" className="logo-frame" />
      <path d="M10 8v16M16 8v16M22 8v16" className="logo-rails" />
      <circle cx="10" cy="13" r="3.2" className="logo-needed" />
      <circle cx="16" cy="19" r="3.2" className="logo-both" />
      <circle cx="22" cy="12" r="3.2" className="logo-harmful" />
    </svg>
  );
}
