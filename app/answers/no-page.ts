/** The component of a route without a page: Remix answers a refused method with the error page only where there is one. */
export default function NoPage() {
  return null;
}
