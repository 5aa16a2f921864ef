import type { Texts } from "./texts";

export const de: Texts = {
  pages: {
    common: {
      accountTitle: "Ihr Konto",
      backToLogin: "Zurück zur Anmeldung",
      continueWith: "Weiter mit {provider}",
      email: "E-Mail-Adresse",
      forgotPassword: "Passwort vergessen?",
      language: "Sprache",
      logIn: "Anmelden",
      or: "oder",
      otherService: "dem anderen Dienst",
      password: "Passwort",
    },
    login: {
      createAccount: "Noch kein Konto? <register>Konto erstellen</register>",
      idpFailed: "Die Anmeldung mit {provider} hat nicht funktioniert.",
      idpFailedAgain:
        "Die Anmeldung mit {provider} hat nicht funktioniert. <again>Versuchen Sie es noch einmal</again>, oder melden Sie sich mit Ihrer E-Mail-Adresse an.",
      passwordReset: "Ihr Passwort wurde geändert. Melden Sie sich mit dem neuen an.",
      signInAgain: {
        one: "Ihre Anmeldung ist länger als {count} Minute her. Melden Sie sich noch einmal an, um fortzufahren.",
        other: "Ihre Anmeldung ist länger als {count} Minuten her. Melden Sie sich noch einmal an, um fortzufahren.",
      },
    },
    forgot: {
      lead: "Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir senden Ihnen einen Link, mit dem Sie ein neues Passwort festlegen.",
      send: "Link senden",
      sent: "Falls es ein Konto für <address>{address}</address> gibt, ist ein Link zum Zurücksetzen des Passworts unterwegs.",
    },
    register: {
      lead: "Wir senden Ihnen einen Link, mit dem Sie ein Passwort festlegen.",
      logIn: "Sie haben schon ein Konto? <login>Anmelden</login>",
      next: "Weiter",
      sent: "Falls <address>{address}</address> E-Mails empfängt, ist ein Link zum Fertigstellen des Kontos unterwegs.",
      title: "Konto erstellen",
    },
    sent: {
      askedAgain: "Noch einmal angefordert.",
      help: "Sehen Sie im Spam-Ordner nach, prüfen Sie die Adresse und fordern Sie den Link noch einmal an.",
      logged: "Dieser Server versendet keine E-Mails: Sie steht in der Ausgabe des Servers.",
      loggedHere: "Sie können sie auch <mails>hier lesen</mails>.",
      nothing: "Nach ein paar Minuten noch nichts da?",
      sendAgain: "Noch einmal senden",
      thatAddress: "diese Adresse",
      title: "Sehen Sie in Ihr Postfach",
      works: {
        one: "Er funktioniert einmal und {count} Minute lang.",
        other: "Er funktioniert einmal und {count} Minuten lang.",
      },
    },
    link: {
      invalidHelp: {
        one: "Ein Link funktioniert einmal und {count} Minute lang. Wir können Ihnen einen neuen senden.",
        other: "Ein Link funktioniert einmal und {count} Minuten lang. Wir können Ihnen einen neuen senden.",
      },
      sendNew: "Neuen Link senden",
    },
    reset: {
      submit: "Passwort ändern",
      title: "Neues Passwort festlegen",
    },
    complete: {
      submit: "Konto erstellen",
      title: "Konto fertigstellen",
    },
    password: {
      capsLock: "Die Feststelltaste ist aktiv.",
      hide: "Verbergen",
      hideNew: "Neues Passwort verbergen",
      hideNewAgain: "Wiederholtes neues Passwort verbergen",
      hidePassword: "Passwort verbergen",
      new: "Neues Passwort",
      newAgain: "Neues Passwort wiederholen",
      show: "Anzeigen",
      showNew: "Neues Passwort anzeigen",
      showNewAgain: "Wiederholtes neues Passwort anzeigen",
      showPassword: "Passwort anzeigen",
    },
    strength: {
      score0: "Sehr leicht zu erraten: Fügen Sie Wörter hinzu.",
      score1: "Leicht zu erraten: Fügen Sie ein oder zwei Wörter hinzu.",
      score2: "Könnte stärker sein: Fügen Sie ein Wort hinzu.",
      score3: "Stark.",
      score4: "Sehr stark.",
      tooShort: {
        one: "Zu kurz: Verwenden Sie mindestens {count} Zeichen.",
        other: "Zu kurz: Verwenden Sie mindestens {count} Zeichen.",
      },
      use: {
        one: "Verwenden Sie mindestens {count} Zeichen.",
        other: "Verwenden Sie mindestens {count} Zeichen.",
      },
    },
    account: {
      connect: "{provider} verbinden",
      connected: "Sie können sich jetzt mit {provider} anmelden.",
      connectFailed: "Die Anmeldung mit {provider} hat nicht funktioniert. Es wurde nichts geändert.",
      delete: "Mein Konto löschen",
      deleteConfirm: "Geben Sie zur Bestätigung Ihre E-Mail-Adresse ein",
      deleteForGood: "Mein Konto endgültig löschen",
      deleteTitle: "Konto löschen",
      deleteWarning: {
        one: "Ihr Konto wird mit allem, was dazugehört, gelöscht. Das lässt sich nicht rückgängig machen. Wenn Ihre Anmeldung länger als {count} Minute her ist, müssen Sie sich vorher noch einmal anmelden.",
        other:
          "Ihr Konto wird mit allem, was dazugehört, gelöscht. Das lässt sich nicht rückgängig machen. Wenn Ihre Anmeldung länger als {count} Minuten her ist, müssen Sie sich vorher noch einmal anmelden.",
      },
      disconnect: "Trennen",
      disconnectProvider: "{provider} trennen",
      disconnectWarning:
        "Sie melden sich dann nur noch mit Ihrem Passwort an, und alle anderen Sitzungen werden beendet. Die Anmeldung mit {provider} funktioniert erst wieder, wenn Sie sie hier neu verbinden.",
      emailAndPassword: "E-Mail-Adresse und Passwort",
      externalSignIn: "externe Anmeldung",
      logOut: "Abmelden",
      mailPasswordLink: "Passwort per E-Mail ändern",
      name: "Name",
      notConnected: "{provider} <muted>· nicht verbunden</muted>",
      onlyProvider:
        "Sie können sich nur so anmelden: {provider}. Um die Verbindung trennen zu können, legen Sie zuerst ein Passwort fest.",
      setPassword: "Passwort per E-Mail festlegen",
      waysIn: "So melden Sie sich an",
    },
    sessions: {
      end: "Sitzung beenden",
      endOthers: "Alle anderen Sitzungen beenden",
      lastSeen: "Zuletzt aktiv: <time>{moment}</time>",
      since: "Angemeldet: <time>{moment}</time>",
      thisBrowser: "dieser Browser",
      title: "Wo Sie angemeldet sind",
    },
    deleted: {
      createNew: "Neues Konto erstellen",
      text: "Alles, was dazugehörte, ist gelöscht, und Sie sind überall abgemeldet.",
      title: "Ihr Konto wurde gelöscht",
    },
    errors: {
      goToStart: "Zur Startseite",
      openFormAgain: "Formular neu öffnen",
      text400: "Etwas darin ist fehlerhaft. Wenn die Adresse aus einer E-Mail stammt, kopieren Sie den ganzen Link.",
      text403: "Zu Ihrer Sicherheit nehmen wir Formulare nur von unseren eigenen Seiten an.",
      text404: "Unter dieser Adresse gibt es keine Seite.",
      text405: "Die Seite lässt sich so nicht öffnen.",
      text413: "Das Formular war länger als erlaubt.",
      text415: "Es wurde in einer Form gesendet, die wir nicht lesen können.",
      text422: "Ein Teil davon hat gefehlt.",
      text429: "Warten Sie ein paar Minuten und versuchen Sie es dann noch einmal.",
      text500: "Der Fehler liegt bei uns, nicht bei Ihnen. Versuchen Sie es gleich noch einmal.",
      text503: "Wir können gerade nicht antworten. Es ist nichts verloren gegangen.",
      title400: "Diese Adresse ist nicht lesbar",
      title403: "Von einer anderen Website gesendet",
      title404: "Seite nicht gefunden",
      title405: "Das funktioniert hier nicht",
      title413: "Zu viel Text",
      title415: "Formular nicht verstanden",
      title422: "Formular nicht verstanden",
      title429: "Zu viele Versuche",
      title500: "Etwas ist schiefgegangen",
      title503: "Gleich wieder da",
      tryAgain: "Noch einmal versuchen",
    },
  },

  answers: {
    form: {
      missing: "Dieses Feld fehlt oder wurde doppelt gesendet.",
    },
    link: {
      invalid: "Dieser Link ist ungültig oder abgelaufen.",
      invalidReset: "Dieser Link zum Zurücksetzen ist ungültig oder abgelaufen.",
    },
    login: {
      tooMany: {
        one: "Zu viele Versuche. Versuchen Sie es in {count} Minute noch einmal, oder setzen Sie Ihr Passwort zurück.",
        other:
          "Zu viele Versuche. Versuchen Sie es in {count} Minuten noch einmal, oder setzen Sie Ihr Passwort zurück.",
      },
      wrong: "E-Mail-Adresse oder Passwort ist falsch.",
    },
    password: {
      common: "Dieses Passwort gehört zu den häufigsten. Wählen Sie ein anderes.",
      isTheEmail: "Wählen Sie ein Passwort, das nicht Ihre E-Mail-Adresse ist.",
      tooLong: {
        one: "Verwenden Sie höchstens {count} Zeichen.",
        other: "Verwenden Sie höchstens {count} Zeichen.",
      },
      tooShort: {
        one: "Verwenden Sie mindestens {count} Zeichen.",
        other: "Verwenden Sie mindestens {count} Zeichen.",
      },
      unconfirmed: "Die beiden Passwörter stimmen nicht überein.",
    },
    account: {
      alreadyConnected: "Die Verbindung besteht bereits.",
      chooseAction: "Wählen Sie eine Aktion.",
      disconnected: "Die externe Anmeldung wurde getrennt, und alle anderen Sitzungen wurden beendet.",
      onlyWayIn: "Legen Sie zuerst ein Passwort fest: Sonst können Sie sich nicht mehr anmelden.",
      otherSessionsEnded: "Alle anderen Sitzungen wurden beendet.",
      passwordLinkSent: "Ein Link zum Festlegen des Passworts ist unterwegs an {email}.",
      sessionAlreadyEnded: "Diese Sitzung ist bereits beendet.",
      sessionEnded: "Die Sitzung wurde beendet.",
      signInOff: "Die externe Anmeldung ist abgeschaltet.",
      tooManyLinks: {
        one: "Es wurden zu viele Links angefordert. Versuchen Sie es in {count} Minute noch einmal.",
        other: "Es wurden zu viele Links angefordert. Versuchen Sie es in {count} Minuten noch einmal.",
      },
      typeYourEmail: "Geben Sie die E-Mail-Adresse dieses Kontos ein.",
    },
    browser: {
      onSystem: "{browser} unter {system}",
      unknown: "Unbekannter Browser",
      unknownOnSystem: "Unbekannter Browser unter {system}",
    },
    provider: {
      singleSignOn: "Single Sign-on",
    },
  },

  mails: {
    common: {
      anotherService: "einem anderen Dienst",
      expiry: {
        one: "Dieser Link läuft in {count} Minute ab.",
        other: "Dieser Link läuft in {count} Minuten ab.",
      },
      ignore: "Wenn Sie das nicht angefordert haben, können Sie diese E-Mail ignorieren.",
      logIn: "Anmelden",
      resetPassword: "Passwort zurücksetzen",
      yourAccount: "Ihr Konto",
    },
    reset: {
      button: "Neues Passwort festlegen",
      lead: "Setzen Sie Ihr Passwort zurück:",
      subject: "Passwort zurücksetzen",
    },
    registration: {
      button: "Passwort festlegen",
      lead: "Stellen Sie Ihr Konto fertig:",
      subject: "Konto fertigstellen",
    },
    accountExists: {
      logInHere: "Hier können Sie sich anmelden:",
      resetHere: "Wenn Sie das Passwort vergessen haben, setzen Sie es hier zurück:",
      subject: "Sie haben bereits ein Konto",
      what: "Jemand, vermutlich Sie, wollte mit dieser Adresse ein Konto erstellen. Sie haben bereits eines.",
    },
    passwordChanged: {
      act: "Wenn Sie das nicht waren, setzen Sie Ihr Passwort jetzt zurück:",
      subject: "Ihr Passwort wurde geändert",
      what: "Das Passwort Ihres Kontos wurde geändert, und alle Sitzungen wurden beendet.",
    },
    newSignIn: {
      act: "Wenn Sie das nicht waren, setzen Sie Ihr Passwort zurück. Damit werden alle Browser abgemeldet:",
      check: "Melden Sie sich dann an und trennen Sie jede externe Anmeldung, die Sie nicht selbst verbunden haben:",
      lead: "Jemand, vermutlich Sie, hat sich mit dem Passwort Ihres Kontos in einem bisher unbekannten Browser angemeldet:",
      subject: "Neue Anmeldung bei Ihrem Konto",
      what: "{browser}, {moment}",
    },
    providerLinked: {
      act: "Wenn Sie das nicht waren, setzen Sie zuerst Ihr Passwort zurück. Damit werden alle Browser abgemeldet:",
      remove:
        "Melden Sie sich dann an und trennen Sie {provider} auf Ihrer Kontoseite. Wer es inzwischen benutzt hat, wird dadurch abgemeldet, und ohne Sie kann {provider} nicht wieder verbunden werden:",
      subject: "Anmeldung mit {provider} wurde hinzugefügt",
      what: "Sie können sich jetzt mit {provider} bei Ihrem Konto anmelden.",
    },
    providerUnlinked: {
      act: "Wenn Sie das nicht waren, setzen Sie Ihr Passwort zurück. Damit werden alle Browser abgemeldet:",
      again: "Melden Sie sich dann an. Auf Ihrer Kontoseite können Sie {provider} wieder verbinden:",
      subject: "Anmeldung mit {provider} wurde entfernt",
      what: "Die Anmeldung bei Ihrem Konto mit {provider} ist nicht mehr möglich, und alle anderen Browser wurden abgemeldet.",
    },
    accountDeleted: {
      act: "Wenn Sie das nicht waren, konnte sich jemand bei Ihrem Konto anmelden: Ändern Sie das Passwort Ihres Postfachs und aller Konten mit demselben Passwort. Hier können Sie ein neues Konto erstellen:",
      button: "Neues Konto erstellen",
      subject: "Ihr Konto wurde gelöscht",
      what: "Ihr Konto wurde mit allem, was dazugehört, gelöscht. Es lässt sich nicht wiederherstellen.",
    },
  },
};
