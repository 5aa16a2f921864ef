import type { Translated } from "./translate";

/** Every English text. Its form is that of the other languages: see docs/languages.md. */
export const en = {
  /** What the components show: the browser has these. */
  pages: {
    common: {
      accountTitle: "Your account",
      backToLogin: "Back to log in",
      signInWith: "Sign in with {provider}",
      cookiesBlocked:
        "Your browser blocks cookies, and nobody can log in without one. Allow them for this site, then reload the page.",
      email: "Email",
      forgotPassword: "Forgot your password?",
      help: "Help",
      language: "Language",
      logIn: "Log in",
      or: "or",
      otherService: "the other service",
      password: "Password",
      privacy: "Privacy",
      terms: "Terms",
    },
    login: {
      description: "Log in to your account with {brand}.",
      createAccount: "No account yet? <register>Create one</register>",
      emailChanged: "Your email address was changed. Log in with the new one.",
      idpFailed: "Signing in with {provider} did not work.",
      lastUsed: "Last used",
      passwordReset: "Your password was changed. Log in with the new one.",
      signedOut: "You are signed out.",
      leaveProvider: "Log out of the sign-in service, too",
      signInAgain: {
        one: "You logged in more than {count} minute ago. Log in again to go on.",
        other: "You logged in more than {count} minutes ago. Log in again to go on.",
      },
    },
    failure: {
      again: "<again>Try again</again>, or log in another way.",
      cancelled: "It was cancelled.",
      connect: "Log in, then connect {provider} on your account page.",
      disconnected: "It is disconnected from your account.",
      noAnswer: "There was no answer from {provider}.",
      noEmail: "There was no email address in what {provider} sent.",
      otherAccount: "Use another account",
      otherIdentity: "Your account is connected to another account of {provider}. Use that one, or log in another way.",
      stale: "It took too long.",
      unverified: "Your email address is not confirmed by {provider}.",
    },
    forgot: {
      description: "Choose a new password for your account with {brand}, by a link in a mail.",
      lead: "Enter the email address of your account. We will mail you a link to choose a new password.",
      send: "Send the link",
      sent: "If there is an account for <address>{address}</address>, a link to reset its password is on its way.",
    },
    register: {
      description: "Create an account with {brand}.",
      closed: "New accounts cannot be created here.",
      domains: "Accounts are for addresses of certain domains.",
      lead: "We will mail you a link to choose a password with.",
      logIn: "Already have an account? <login>Log in</login>",
      next: "Continue",
      sent: "If mail reaches <address>{address}</address>, a link to finish creating the account is on its way.",
      sentDomains: "If <address>{address}</address> may have an account, a link to finish creating it is on its way.",
      title: "Create an account",
    },
    sent: {
      askedAgain: "Asked again.",
      help: "Look into the spam folder, check the address, and ask again.",
      limit: {
        one: "At most {count} mail is sent to an address in a quarter of an hour.",
        other: "At most {count} mails are sent to an address in a quarter of an hour.",
      },
      logged: "No mail leaves this server: it is in the server’s output.",
      loggedHere: "You can also <mails>read it here</mails>.",
      nothing: "Nothing there after a few minutes?",
      sendAgain: "Send it again",
      thatAddress: "that address",
      title: "Check your mail",
      works: {
        one: "It works once, within {count} minute.",
        other: "It works once, within {count} minutes.",
      },
    },
    link: {
      askAgain: "You can <again>ask for a new one</again>.",
      dead: "This link has expired or was used already.",
      incomplete: "This link is not whole: copy all of it from the mail.",
      invalidHelp: {
        one: "A link works once, and for {count} minute. We can mail you a new one.",
        other: "A link works once, and for {count} minutes. We can mail you a new one.",
      },
      sendNew: "Send a new link",
    },
    reset: {
      submit: "Change the password",
      title: "Choose a new password",
      used: "If you have just changed your password, the link is used: <login>log in</login>.",
    },
    complete: {
      submit: "Create the account",
      title: "Finish creating your account",
      used: "If you have just created your account, the link is used: <login>log in</login>.",
    },
    password: {
      capsLock: "Caps Lock is on.",
      current: "Current password",
      hide: "Hide",
      hideCurrent: "Hide current password",
      hideNew: "Hide new password",
      hideNewAgain: "Hide new password, again",
      hidePassword: "Hide password",
      new: "New password",
      newAgain: "New password, again",
      show: "Show",
      showCurrent: "Show current password",
      showNew: "Show new password",
      showNewAgain: "Show new password, again",
      showPassword: "Show password",
    },
    strength: {
      score0: "Very easy to guess: add words.",
      score1: "Easy to guess: add a word or two.",
      score2: "Could be stronger: add a word.",
      score3: "Strong.",
      score4: "Very strong.",
      tooShort: {
        one: "Too short: use at least {count} character.",
        other: "Too short: use at least {count} characters.",
      },
      use: {
        one: "Use at least {count} character.",
        other: "Use at least {count} characters.",
      },
    },
    confirmEmail: {
      anotherAccount:
        "You are signed in to another account than the one that this link belongs to, so nothing was changed. Log out on <account>your account page</account>, then open the link again.",
      askAgain: "You can ask for a new one on <account>your account page</account>.",
      decline: "I did not ask for this",
      declined: "Nothing was changed, and the link no longer works.",
      lead: "From then on you log in with the new address, and mails go there. Confirm it only if the account is yours and you asked for this yourself.",
      linkWorks: {
        one: "A link works once, and for {count} minute.",
        other: "A link works once, and for {count} minutes.",
      },
      newAddress: "New address",
      oldAddress: "Current address",
      show: "Show the account",
      submit: "Confirm the address",
      title: "Confirm your new email address",
      which: "Somebody asked to give an account the address below. See which account it is before you confirm.",
    },
    account: {
      changeEmail: "Change the email address",
      changeEmailHow:
        "We mail a link to the new address, and tell the current one. The address changes when you confirm the new one. Sessions in other browsers end then.",
      changeEmailSend: "Send the link",
      changePassword: "Change the password",
      connect: "Connect {provider}",
      connected: "You can now sign in with {provider}.",
      connectFailed: "Signing in with {provider} did not work. Nothing was changed.",
      delete: "Delete my account",
      deleteConfirm: "Type your email address to confirm",
      deleteForGood: "Delete my account for good",
      deleteTitle: "Delete your account",
      deleteWarning: "Your account and everything in it will be gone. This cannot be undone.",
      details: "Your details",
      disconnect: "Disconnect",
      disconnected: "The external sign-in was disconnected, and every other session was ended.",
      disconnectProvider: "Disconnect {provider}",
      disconnectWarning: "Every other session ends. {provider} does not sign you in until you connect it again here.",
      emailAndPassword: "Email and password",
      emailChanged: "Your email address was changed, and every other session was ended.",
      externalSignIn: "external sign-in",
      forgotCurrentPassword: "Have you forgotten the current password?",
      isConnected: "Connected",
      logOut: "Log out",
      mailPasswordLink: "Change the password by mail",
      name: "Name",
      newEmail: "New email address",
      notConnected: "Not connected",
      onlyProvider: "Your only way in is {provider}. To be able to disconnect it, set a password first.",
      otherSessionsEnd: "Every other session ends.",
      otherSessionsEnded: "Every other session was ended.",
      passwordChanged: "Your password was changed, and every other session was ended.",
      savePassword: "Save the new password",
      setPassword: "Set a password by mail",
      signInAgain: {
        one: "You logged in more than {count} minute ago, so we will ask you to log in again first.",
        other: "You logged in more than {count} minutes ago, so we will ask you to log in again first.",
      },
      waysIn: "How you sign in",
    },
    sessions: {
      end: "End this session",
      endOthers: "End every other session",
      lastSeen: "Last seen <time>{moment}</time>",
      since: "Signed in <time>{moment}</time>",
      thisBrowser: "this browser",
      title: "Where you are signed in",
    },
    passkeys: {
      add: "Add a passkey",
      added: "Passkey, added <time>{moment}</time>",
      how: "Sign in with your fingerprint, your face or the PIN of your device, and type no password.",
      lastUsed: "Last used <time>{moment}</time>",
      questioned: "It is from before your address was last confirmed. If you did not add it, remove it.",
      remove: "Remove the passkey",
      signIn: "Sign in with a passkey",
      title: "Passkey",
    },
    noAccess: {
      again: "Try again",
      leave: "Log out and use another account",
      signedIn: "You are signed in as {account}.",
      text: "You are signed in as {account}. This account has no access to the page that you opened. Whoever runs the application can give it access.",
      title: "You have no access",
    },
    noPasswords: {
      text: "Accounts come from {provider}, and you sign in with it. Passwords are neither chosen nor reset here.",
      title: "No passwords here",
    },
    deleted: {
      createNew: "Create a new account",
      text: "Everything in it is gone, and it is logged out everywhere.",
      title: "Your account was deleted",
    },
    errors: {
      goToStart: "Go to the start page",
      openFormAgain: "Open the form again",
      requestId: "Request ID: {id}",
      support: "If this goes on, write to <mail>{address}</mail> and quote the request ID.",
      text400: "Something in it is broken. If it came from a mail, copy the whole link.",
      text403: "For your safety, forms are only taken from our own pages. Open the form here and send it again.",
      text404: "There is no page at this address. Check it, or go on from the start page.",
      text405: "This address only takes what one of our forms sends. Go on from the start page.",
      text413: "The form was longer than it can be. Shorten it and send it again.",
      text415: "It was sent in a way that we cannot read. Send it from its page.",
      text422: "Part of it was missing. Send it from its page.",
      text429: "Wait a few minutes, then try again.",
      text500: "It is our fault, not yours. Try again in a moment.",
      text503: "We cannot answer right now. Nothing was lost: try again in a moment.",
      title400: "This address cannot be read",
      title403: "Sent from another site",
      title404: "Page not found",
      title405: "This does not work here",
      title413: "Too much text",
      title415: "Form not understood",
      title422: "Form not understood",
      title429: "Too many attempts",
      title500: "Something went wrong",
      title503: "Back in a moment",
      tryAgain: "Try again",
    },
  },

  /** What the server answers: the browser gets one of these when it is needed. */
  answers: {
    form: {
      missing: "This field is missing, or was sent twice.",
    },
    link: {
      invalid: "This link is invalid or has expired.",
      invalidReset: "This reset link is invalid or has expired.",
    },
    login: {
      passkeyFailed: "Signing in with the passkey did not work. Try again, or log in another way.",
      tooMany: {
        one: "Too many attempts. Try again in {count} minute.",
        other: "Too many attempts. Try again in {count} minutes.",
      },
      wrong: "Email or password is incorrect.",
    },
    password: {
      breached: "This password was in a known data breach. Choose another.",
      common: "This password is among the most common ones. Choose another.",
      isTheEmail: "Choose a password that is not your email address.",
      isTheService: "Choose a password that is not the name or the address of this site.",
      tooLong: {
        one: "Use at most {count} character.",
        other: "Use at most {count} characters.",
      },
      tooShort: {
        one: "Use at least {count} character.",
        other: "Use at least {count} characters.",
      },
      unconfirmed: "The two passwords are not the same.",
    },
    account: {
      alreadyConnected: "It is connected already.",
      changedMeanwhile: "The password was changed in the meantime, by another request. This one changed nothing.",
      chooseAction: "Choose an action.",
      emailChangeSent: {
        one: "If mail reaches {email}, a link to confirm the address is on its way. Your address changes when you open it and confirm, within {count} minute.",
        other:
          "If mail reaches {email}, a link to confirm the address is on its way. Your address changes when you open it and confirm, within {count} minutes.",
      },
      enterEmail: "Enter an email address.",
      noPassword: "This account has no password yet. Choose “Set a password by mail” below.",
      onlyWayIn: "This is the only way into your account: add another one first.",
      ownEmail: "This is the address of your account already.",
      passkeyAdded: "The passkey was added. You can sign in with it from now on.",
      passkeyFailed: "Nothing was changed. If this device has a passkey for your account already, use that one.",
      passwordLinkSent: "A link to set the password is on its way to {email}.",
      passwordsOff: "Passwords are switched off.",
      sessionAlreadyEnded: "This session has already ended.",
      sessionEnded: "The session was ended.",
      signInOff: "External sign-in is switched off.",
      tooManyLinks: {
        one: "Too many links were asked for. Try again in {count} minute.",
        other: "Too many links were asked for. Try again in {count} minutes.",
      },
      tooManyWrong: {
        one: "Too many wrong passwords. Try again in {count} minute.",
        other: "Too many wrong passwords. Try again in {count} minutes.",
      },
      typeCurrentPassword: "Type your current password.",
      typeYourEmail: "Type the email address of this account.",
      wrongPassword: "This is not your current password.",
    },
    browser: {
      onSystem: "{browser} on {system}",
      unknown: "An unknown browser",
      unknownOnSystem: "An unknown browser on {system}",
    },
    provider: {
      singleSignOn: "single sign-on",
    },
  },

  mails: {
    common: {
      anotherService: "another service",
      expiry: {
        one: "This link expires in {count} minute.",
        other: "This link expires in {count} minutes.",
      },
      help: "Help: {address}",
      ignore: "If you did not ask for this, you can ignore this mail.",
      logIn: "Log in",
      privacy: "Privacy",
      resetPassword: "Reset your password",
      sentBy: "This mail was sent by {brand}.",
      terms: "Terms",
      yourAccount: "Your account",
    },
    reset: {
      button: "Choose a new password",
      lead: "Reset your password:",
      passkeySignIn: "You can also sign in with a passkey, without a password.",
      passkeys:
        "Your account has passkeys ({count}). A reset removes none: check on your account page that all are yours.",
      provider: "You can also sign in with {provider}, without a password.",
      subject: "Reset your password",
    },
    invitation: {
      another: "Ask for another link",
      late: "When the link has expired, ask for another one here:",
      lead: "Choose a password for it:",
      signIn: "You sign in to it with {provider}:",
      subject: "Your account with {brand}",
      what: "An account was created for you: {email}.",
    },
    registration: {
      button: "Choose a password",
      lead: "Finish creating your account:",
      subject: "Finish creating your account",
    },
    accountExists: {
      logInHere: "You can log in here:",
      resetHere: "If you forgot the password, reset it here:",
      subject: "You already have an account",
      what: "Somebody, probably you, asked to create an account with this address. You already have one.",
    },
    passwordChanged: {
      act: "If it was not you, reset your password now:",
      onPage: "The password of your account was changed on its account page, and every other browser was signed out.",
      subject: "Your password was changed",
      what: "The password of your account was changed, and every session was signed out.",
    },
    emailChange: {
      button: "Confirm the address",
      careful:
        "If {oldEmail} is not your account, or you did not ask for this, do not confirm it: somebody else’s account would get your address.",
      lead: "Confirm your new email address:",
      subject: "Confirm your new email address",
      what: "The account {oldEmail} is to get this address. When you confirm it, you log in to that account with this address, and its mails come here.",
    },
    addressTaken: {
      free: "To use the address for the other account, log in to this one first, and delete it or change its address:",
      what: "Somebody, probably you, asked to use this address for another account. You already have an account with it, so nothing was changed.",
    },
    emailChanging: {
      act: "If it was not you, reset your password now. That stops the change and signs every browser out:",
      subject: "Your email address is being changed",
      what: "Somebody, probably you, asked to change the email address of your account to {newEmail}. It changes when that address is confirmed with a link that was mailed to it.",
    },
    emailChanged: {
      changeBack:
        "If it was not you, log in at once, with {newEmail} and your password or with an external sign-in, and change the address back. That signs every other browser out. Then change your password, and remove every passkey and disconnect every external sign-in that you did not add yourself:",
      lost: "If you cannot log in, tell the people who run this service.",
      secureMailbox:
        "If it was not you, somebody can read your mail: change the password of your mailbox, and then reset the password of this account:",
      subject: "Your email address was changed",
      what: "The email address of your account was changed from {oldEmail} to {newEmail}, and every other browser was signed out. You log in with {newEmail} now.",
    },
    newSignIn: {
      act: "If it was not you, reset your password, which signs every browser out:",
      check:
        "Then log in, and remove every passkey and disconnect every external sign-in that you did not add yourself:",
      lead: "Somebody, probably you, signed in to your account with its password, in a browser that it did not know:",
      leadPasskey:
        "Somebody, probably you, signed in to your account with a passkey, in a browser that it did not know:",
      subject: "New sign-in to your account",
      what: "{browser}, {moment}",
    },
    passkey: {
      added: "A passkey was added",
      addedWhat: "A passkey can now be used to sign in to your account.",
      removed: "A passkey was removed",
      removedWhat:
        "A passkey can no longer be used to sign in to your account, and every other browser was signed out.",
    },
    providerLinked: {
      act: "If it was not you, reset your password first. That signs every browser out:",
      remove:
        "Then log in and disconnect {provider} on your account page. That signs out whoever used it in the meantime, and {provider} cannot be connected again without you:",
      subject: "Sign-in with {provider} was added",
      what: "{provider} can now be used to sign in to your account.",
    },
    providerUnlinked: {
      act: "If it was not you, reset your password. That signs every browser out:",
      again: "Then log in. You can connect {provider} again on your account page:",
      subject: "Sign-in with {provider} was removed",
      what: "{provider} can no longer be used to sign in to your account, and every other browser was signed out.",
    },
    noPasswords: {
      secure: "If it was not you, secure your account of {provider}: whoever can use it can sign in here.",
      undo: "Then log in, undo on your account page what was not you, and end every other session:",
    },
    accountDeleted: {
      act: "If it was not you, somebody could sign in to your account: change the password of your mailbox and of every account that shared its password.",
      again: "You can create a new account here:",
      button: "Create a new account",
      subject: "Your account was deleted",
      what: "Your account was deleted, with everything in it. It cannot be brought back.",
    },
  },
} as const;

export type PageTexts = (typeof en)["pages"];
export type AnswerTexts = (typeof en)["answers"];
export type MailTexts = (typeof en)["mails"];

/** The texts of one language. */
export interface Texts {
  readonly pages: Translated<PageTexts>;
  readonly answers: Translated<AnswerTexts>;
  readonly mails: Translated<MailTexts>;
}
